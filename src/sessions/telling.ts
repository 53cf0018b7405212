/** A request as it tells its conversation: what was, what is new, and what makes it the request it is. */
import type { Block, Message, ToolResultBlock } from '../core/conversation.js';
import { chainOf, digest, endOf, type Link, seedOf } from './hash-chain.js';
import type { Asks } from './session-record.js';
import type { AttachRequest } from './sessions.js';
import { type Atom, atomsOf, canonical, messagesAfter, resultsIn, saidKey } from './visible-history.js';

/** One way to tell a conversation: some of it by its link, the rest as messages. */
export interface Telling {
  start: Link;
  messages: readonly Message[];
}

export interface ReadRequest {
  principal: string;
  seed: Link;
  messages: readonly Message[];
  /** An assistant says something in it. */
  hasHistory: boolean;
  /** What is behind the last thing that an assistant says. */
  incoming: readonly Message[];
  /** In what is new. */
  results: readonly ToolResultBlock[];
  asks: Asks;
  /** Where its history may be known: the ends of messages, shortest part first. */
  places: readonly Place[];
  /** The same for all of it. */
  ends: readonly Place[];
  /** All of it, from the beginning. */
  tail: Link;
}

export interface Place extends Link {
  /** The message that ends here. */
  message: number;
  /** What the request says behind it. */
  rest(): Message[];
}

export function readRequest({
  principal,
  engine,
  root,
  model,
  idempotencyKey,
  request,
}: AttachRequest): ReadRequest {
  const { messages, tools, toolChoice, parallelToolCalls } = request;
  const seed = seedOf(engine, root);
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  const incoming = messages.slice(lastAnswer + 1);
  const atoms = atomsOf(messages);
  const chain = chainOf(seed, atoms);
  const ends = endsIn(messages, atoms, chain);
  return {
    principal,
    seed,
    messages,
    hasHistory: lastAnswer >= 0,
    incoming,
    results: resultsIn(incoming),
    asks: {
      model,
      ...(tools.length === 0 ? {} : { tools: digest(canonical(tools)) }),
      choice: canonical([toolChoice ?? { type: 'auto' }, parallelToolCalls ?? true]),
      ...(idempotencyKey === undefined ? {} : { idempotency: digest(idempotencyKey) }),
    },
    places: ends.filter(({ message }) => message <= lastAnswer),
    ends,
    tail: chain.at(-1) ?? seed,
  };
}

function endsIn(messages: readonly Message[], atoms: readonly Atom[], chain: readonly Link[]): Place[] {
  const ends: Place[] = [];
  for (const [index, { message }] of atoms.entries()) {
    const link = chain[index];
    // In the middle of a message nothing can begin.
    if (link === undefined || atoms[index + 1]?.message === message) continue;
    ends.push({ ...link, message, rest: () => messagesAfter(messages, atoms, index + 1) });
  }
  return ends;
}

/** Of a request on a conversation; the same when it is sent again. */
export function requestKey(tail: string, { model, tools, choice, idempotency }: Asks): string {
  return digest('turn', tail, JSON.stringify([model, tools ?? '', choice, idempotency ?? '']));
}

export function tellingEnd({ start, messages }: Telling, more: readonly Message[]): Link {
  return endOf(start, [...messages, ...more]);
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
