/** A request as it tells its conversation: what was, what is new, and what makes it the request it is. */
import { withoutBillingHeader } from '../../core/billing-header.js';
import type { Block, Message, TextBlock, ToolResultBlock } from '../../core/conversation.js';
import type { Asks, TurnRow } from '../persistence/session-row.js';
import type { AttachRequest } from '../sessions.js';
import { chainOf, digest, type Link, seedOf } from './hash-chain.js';
import { type Atom, atomsOf, canonical, messagesAfter, resultsIn, saidKey } from './visible-history.js';

const ASSISTANT_TEXT = 'assistant|text|';

/** One way to tell a conversation, as far as is needed to know it again with an answer behind it. */
export class HistoryFingerprint {
  /** All that is told. */
  readonly end: Link;
  /** The last words of the assistant, which more may be joined to, and the link in front of them. */
  readonly #last: { key: string; before: Link } | undefined;

  constructor(start: Link, atoms: readonly Atom[], chain: readonly Link[] = chainOf(start, atoms)) {
    this.end = chain.at(-1) ?? start;
    const key = atoms.at(-1)?.key;
    if (key?.startsWith(ASSISTANT_TEXT)) this.#last = { key, before: chain.at(-2) ?? start };
  }

  /** Some of it by its link, the rest as messages. */
  static from(start: Link, messages: readonly Message[]): HistoryFingerprint {
    return new HistoryFingerprint(start, atomsOf(messages));
  }

  with(answer: Message): Link {
    const atoms = atomsOf([answer]);
    const [first, ...rest] = atoms;
    if (this.#last === undefined || !first?.key.startsWith(ASSISTANT_TEXT)) return linkAfter(this.end, atoms);
    const key = this.#last.key + first.key.slice(ASSISTANT_TEXT.length);
    return linkAfter(this.#last.before, [{ ...first, key }, ...rest]);
  }
}

const linkAfter = (start: Link, atoms: readonly Atom[]): Link => chainOf(start, atoms).at(-1) ?? start;

export interface FingerprintedRequest {
  principal: string;
  /** The end user; undefined where none is named. */
  user: string | undefined;
  /** Of its system prompt. */
  prompt: string;
  seed: Link;
  messages: readonly Message[];
  /** An assistant says something in it. */
  hasHistory: boolean;
  /** What is behind the last thing that an assistant says. */
  incoming: readonly Message[];
  /** In what is new. */
  results: readonly ToolResultBlock[];
  asks: Asks;
  /** Of everything in it; the same for a request that is equal but for how its answer is sent. */
  exact: string;
  /** It says that it is a repeat. */
  repeat: boolean;
  /** Where its history may be known: the ends of messages, shortest part first. */
  places: readonly HistoryPosition[];
  /** The same for all of it. */
  ends: readonly HistoryPosition[];
  /** All of it, from the beginning. */
  fingerprint: HistoryFingerprint;
}

export interface HistoryPosition extends Link {
  /** The message that ends here. */
  message: number;
  /** What the request says behind it. */
  rest(): Message[];
}

export function fingerprintRequest({
  principal,
  engine,
  root,
  user,
  model,
  idempotencyKey,
  repeat = false,
  request,
}: AttachRequest): FingerprintedRequest {
  const { messages, system, tools, toolChoice, parallelToolCalls } = request;
  const seed = seedOf({ engine, root, user });
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  const incoming = messages.slice(lastAnswer + 1);
  const atoms = atomsOf(messages);
  const chain = chainOf(seed, atoms);
  const ends = endsIn(messages, atoms, chain);
  const fingerprint = new HistoryFingerprint(seed, atoms, chain);
  const { messages: _messages, stream: _stream, ...settings } = request;
  return {
    principal,
    user,
    prompt: promptKey(system),
    seed,
    messages,
    hasHistory: lastAnswer >= 0,
    incoming,
    results: resultsIn(incoming),
    asks: {
      model,
      ...(tools.length === 0 ? {} : { tools: digest(canonical(tools)) }),
      choice: canonical([toolChoice ?? { type: 'auto' }, parallelToolCalls ?? true]),
      ...(idempotencyKey === undefined ? {} : { idempotency: idempotencyMark(idempotencyKey) }),
    },
    exact: digest('exact', fingerprint.end.hash, canonical(settings)),
    repeat,
    places: ends.filter(({ message }) => message <= lastAnswer),
    ends,
    fingerprint,
  };
}

function endsIn(
  messages: readonly Message[],
  atoms: readonly Atom[],
  chain: readonly Link[],
): HistoryPosition[] {
  const ends: HistoryPosition[] = [];
  for (const [index, { message }] of atoms.entries()) {
    const link = chain[index];
    // In the middle of a message nothing can begin.
    if (link === undefined || atoms[index + 1]?.message === message) continue;
    ends.push({ ...link, message, rest: () => messagesAfter(messages, atoms, index + 1) });
  }
  return ends;
}

/** The same for prompts that say the same, however they are cut into blocks. Empty for none. */
export function promptKey(system: readonly TextBlock[]): string {
  const texts = system.map(({ text }) => withoutBillingHeader(text).trim()).filter((text) => text !== '');
  return texts.length === 0 ? '' : digest('prompt', texts.join('\n'));
}

/** What a turn keeps of the key of its request. */
export const idempotencyMark = (key: string): string => digest(key);

/** By which a session is found whose first turn broke off behind this. */
export const requestFingerprint = (hash: string): string => digest('tail', hash);

/** Of a request on a conversation; the same when it is sent again. */
export function requestKey(tail: string, { model, tools, choice, idempotency }: Asks): string {
  return digest('turn', tail, JSON.stringify([model, tools ?? '', choice, idempotency ?? '']));
}

/** What the user says beside results, and instructions in between. */
export function saidIn(messages: readonly Message[]): Block[] {
  return messages.flatMap(({ role, content }) =>
    role === 'user' ? content.filter((block) => block.type !== 'tool_result') : [],
  );
}

export function saidKeys(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    const key = saidKey(block);
    return key === undefined ? [] : [digest(key)];
  });
}

/** `one` asks for the same as `other`, which is recorded; who names no tools goes on with those there are. */
export function sameAsks(one: Asks, other: Asks): boolean {
  return (
    one.model === other.model &&
    one.choice === other.choice &&
    (one.tools === undefined || one.tools === other.tools)
  );
}

/** The request says that it repeats the turn's, and is equal to it in everything. */
export function isRepeat({ repeat, exact }: FingerprintedRequest, turn: TurnRow | undefined): boolean {
  return repeat && exact === turn?.exact;
}

/** Two keys are two requests; some of the results may come without the key of the others. */
export function sameIdempotency(
  { idempotency: one }: Asks,
  { idempotency: other }: Asks,
  isSome: boolean,
): boolean {
  return one === other || (isSome && (one === undefined || other === undefined));
}
