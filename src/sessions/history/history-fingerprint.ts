/** Fingerprints of a request: its history, its new messages, and the settings that distinguish it. */
import { hash } from 'node:crypto';
import { withoutBillingHeader } from '../../core/billing-header.js';
import type { Block, Message, TextBlock, ToolResultBlock } from '../../core/conversation.js';
import { Memo } from '../../core/shared-values.js';
import type { AttachRequest } from '../sessions.js';
import { type Atom, atomsOf, canonical, messagesAfter, resultsIn, saidKey } from './visible-history.js';

/** `h[i] = H(h[i-1], atom[i])`: the last link identifies a conversation, an earlier one a prefix of it. */
export interface Link {
  hash: string;
  /** Number of atoms up to here. */
  position: number;
}

export interface Ground {
  engine: string;
  root: string;
  /** The end user; undefined where requests name none. */
  user?: string | undefined;
}

/** Conversations of two engines, folders or end users never share a hash. */
export function seedOf({ engine, root, user }: Ground): Link {
  const ground = user === undefined ? [engine, root] : [engine, root, user];
  return { hash: digest('seed', JSON.stringify(ground)), position: 0 };
}

/** One link for each atom. */
export function chainOf(start: Link, atoms: readonly { key: string }[]): Link[] {
  const links: Link[] = [];
  let { hash, position } = start;
  for (const { key } of atoms) {
    hash = digest(hash, key);
    position += 1;
    links.push({ hash, position });
  }
  return links;
}

interface KnownLinks {
  from: string;
  keys: readonly string[];
  hashes: readonly string[];
}

/** The links of messages, by the link before them: a history that is sent again is hashed once. */
const known = new Memo<Message, KnownLinks>({ last: true });

/** Like `chainOf`, for the atoms of these messages. */
function chainOfMessages(start: Link, messages: readonly Message[], atoms: readonly Atom[]): Link[] {
  const links: Link[] = [];
  let { hash, position } = start;
  for (let first = 0, end = 0; first < atoms.length; first = end) {
    const index = atoms[first]?.message ?? 0;
    while (atoms[end]?.message === index) end += 1;
    const keys = atoms.slice(first, end).map(({ key }) => key);
    for (const next of hashesOf(hash, messages[index], keys)) {
      hash = next;
      position += 1;
      links.push({ hash, position });
    }
  }
  return links;
}

function hashesOf(from: string, message: Message | undefined, keys: readonly string[]): readonly string[] {
  const before = message && known.get(message);
  const isKnown = before?.from === from && before.keys.length === keys.length;
  if (isKnown && before.keys.every((key, index) => key === keys[index])) return before.hashes;
  const hashes = chainOf(
    { hash: from, position: 0 },
    keys.map((key) => ({ key })),
  ).map(({ hash }) => hash);
  if (message !== undefined) known.keep(message, { from, keys, hashes });
  return hashes;
}

export function digest(...parts: readonly string[]): string {
  let whole = '';
  for (const part of parts) whole += `${part.length}:${part}`;
  return hash('sha256', whole, 'base64url');
}

/** What a request asks for beside its history: two requests with other settings are two requests. */
interface Asks {
  model: string;
  /** Digest of the client's tools; absent where the request names none. */
  tools?: string | undefined;
  choice: string;
  /** Digest of the `Idempotency-Key`. */
  idempotency?: string | undefined;
}

const ASSISTANT_TEXT = 'assistant|text|';

/** The fingerprint of one form of a history, which can be extended by the answer. */
export class HistoryFingerprint {
  /** The link of the whole history. */
  readonly end: Link;
  /** The assistant's last text, which the answer may extend, and the link before it. */
  readonly #last: { key: string; before: Link } | undefined;

  constructor(start: Link, atoms: readonly Atom[], chain: readonly Link[] = chainOf(start, atoms)) {
    this.end = chain.at(-1) ?? start;
    const key = atoms.at(-1)?.key;
    if (key?.startsWith(ASSISTANT_TEXT)) this.#last = { key, before: chain.at(-2) ?? start };
  }

  /** `start` stands for the history before the messages. */
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
  /** Digest of its system prompt. */
  prompt: string;
  seed: Link;
  messages: readonly Message[];
  /** It has an assistant message. */
  hasHistory: boolean;
  /** The messages after the last assistant message. */
  incoming: readonly Message[];
  /** Results in the incoming messages. */
  results: readonly ToolResultBlock[];
  asks: Asks;
  /** Digest of everything in it except `stream`. */
  exact: string;
  /** Its client declares it a repeat. */
  repeat: boolean;
  /** The ends of messages up to the last answer, shortest prefix first: where a session may match. */
  positions: readonly HistoryPosition[];
  /** The ends of all messages. */
  ends: readonly HistoryPosition[];
  /** Fingerprint of all messages. */
  fingerprint: HistoryFingerprint;
}

interface HistoryPosition extends Link {
  /** The message that ends here. */
  message: number;
  /** The request's messages after it. */
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
  const chain = chainOfMessages(seed, messages, atoms);
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
    positions: ends.filter(({ message }) => message <= lastAnswer),
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
  for (let index = 0; index < atoms.length; index += 1) {
    const link = chain[index];
    const message = atoms[index]?.message;
    // A turn cannot begin in the middle of a message.
    if (link === undefined || message === undefined || atoms[index + 1]?.message === message) continue;
    const { hash, position } = link;
    const rest = () => messagesAfter(messages, atoms, index + 1);
    ends.push({ hash, position, message, rest });
  }
  return ends;
}

/** Equal for prompts with the same text, however it is split into blocks. Empty for none. */
function promptKey(system: readonly TextBlock[]): string {
  const texts = system.map(({ text }) => withoutBillingHeader(text).trim()).filter((text) => text !== '');
  return texts.length === 0 ? '' : digest('prompt', texts.join('\n'));
}

/** Digest of an `Idempotency-Key`, as a turn stores it. */
export const idempotencyMark = (key: string): string => digest(key);

/** Index key of a session whose first turn broke off after this request. */
export const unansweredKey = (hash: string): string => digest('tail', hash);

/** Identifies a request on a conversation; equal when the client sends it again. */
export function requestKey(requestFingerprint: string, { model, tools, choice, idempotency }: Asks): string {
  return digest('turn', requestFingerprint, JSON.stringify([model, tools ?? '', choice, idempotency ?? '']));
}

/** What the user says beside results. */
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

/** `one` asks for the same as `other`, which is stored. A request without tools keeps the stored ones. */
export function sameAsks(one: Asks, other: Asks): boolean {
  return (
    one.model === other.model &&
    one.choice === other.choice &&
    (one.tools === undefined || one.tools === other.tools)
  );
}

/** The client declares the request a repeat, and it equals the turn's in everything. */
export function isRepeat(
  { repeat, exact }: FingerprintedRequest,
  turn: { exact?: string | undefined } | undefined,
): boolean {
  return repeat && exact === turn?.exact;
}

/** Two keys are two requests; a part of the results may come without the key of the others. */
export function sameIdempotency(
  { idempotency: one }: Asks,
  { idempotency: other }: Asks,
  isSome: boolean,
): boolean {
  return one === other || (isSome && (one === undefined || other === undefined));
}
