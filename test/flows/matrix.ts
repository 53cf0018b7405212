/** Which clients and upstreams a flow is tried with. */
import { DIALECT_NAMES, type DialectName } from '../../src/core/conversation.js';
import { LONG, SEED } from '../faults/counts.js';
import { ChatThread } from './clients/chat-thread.js';
import { MessagesThread } from './clients/messages-thread.js';
import { ResponsesThread } from './clients/responses-thread.js';
import { type Runner, withRunTools, withToolRunner } from './clients/runners.js';
import type { Thread, ThreadOptions } from './clients/thread.js';

export type EngineName = 'native' | 'claude-code';

export interface ClientKind {
  name: string;
  route: DialectName;
  stream: boolean;
  byId: boolean;
  open(options: ThreadOptions): Thread;
  /** Runs the client's tools by itself; such a client is only good for whole tasks. */
  runner?: Runner;
}

const messages = (options: ThreadOptions): Thread => new MessagesThread(options);
const chat = (options: ThreadOptions): Thread => new ChatThread(options);
const responses = (options: ThreadOptions): Thread => new ResponsesThread(options);

const kind = (
  name: string,
  route: DialectName,
  open: ClientKind['open'],
  rest: Partial<ClientKind> = {},
): ClientKind => ({ name, route, open, stream: false, byId: false, ...rest });

export const CLIENTS: readonly ClientKind[] = [
  kind('messages.create', 'anthropic-messages', messages),
  kind('messages.stream', 'anthropic-messages', messages, { stream: true }),
  kind('chat.completions.create', 'openai-chat', chat),
  kind('chat.completions.create, streamed', 'openai-chat', chat, { stream: true }),
  kind('responses.create', 'openai-responses', responses),
  kind('responses.create, streamed', 'openai-responses', responses, { stream: true }),
  kind('responses.create by previous_response_id', 'openai-responses', responses, { byId: true }),
];

export const RUNNERS: readonly ClientKind[] = [
  kind('toolRunner', 'anthropic-messages', messages, { runner: withToolRunner }),
  kind('toolRunner, streamed', 'anthropic-messages', messages, { runner: withToolRunner, stream: true }),
  kind('runTools', 'openai-chat', chat, { runner: withRunTools }),
  kind('runTools, streamed', 'openai-chat', chat, { runner: withRunTools, stream: true }),
];

export interface Combination {
  client: ClientKind;
  upstream: DialectName;
}

/** Combinations of a flow in a sample: on the native engine one costs milliseconds. */
const SAMPLE: Readonly<Record<EngineName, number>> = { native: 2, 'claude-code': 1 };

/** Of so many flows one is in a sample. */
const EVERY: Readonly<Record<EngineName, number>> = { native: 1, 'claude-code': 6 };

/** Neighbouring flows that share an upstream: Claude Code keeps a process warm for one model at a time. */
const NEIGHBOURS: Readonly<Record<EngineName, number>> = { native: 1, 'claude-code': 12 };

/**
 * The full matrix is every client on every upstream; with Claude Code, where each conversation is a
 * process, every client on one upstream each. A sample goes through both lists at a pace of its own,
 * so that neighbouring flows try other combinations and all of them come up.
 */
export function combinations(
  engine: EngineName,
  flow: number,
  clients: readonly ClientKind[],
): Combination[] {
  if (LONG && engine === 'native')
    return clients.flatMap((client) => DIALECT_NAMES.map((upstream) => ({ client, upstream })));
  if (!LONG && (SEED + flow) % EVERY[engine] !== 0) return [];
  const size = LONG ? clients.length : Math.min(SAMPLE[engine], clients.length);
  const block = Math.floor(flow / NEIGHBOURS[engine]);
  return Array.from({ length: size }, (_, index) => ({
    client: at(clients, 3 * (SEED + flow) + index),
    upstream: at(DIALECT_NAMES, SEED + block + index),
  }));
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('There is nothing to choose from');
  return item;
}
