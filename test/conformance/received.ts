/** What a client holds in the end, in the words of no wire. */
import type { JsonRecord } from '../support/violation.js';

export type ReceivedBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string; signature: string }
  | { type: 'redacted'; data: string }
  | { type: 'call'; id: string; name: string; input: unknown };

/** Counts that do not overlap. */
export interface ReceivedUsage {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  /** Part of `output`. */
  reasoning: number;
}

export interface Received {
  model: string;
  /** On chat: all thinking, all text, then the calls, for its order is not told. */
  blocks: ReceivedBlock[];
  /** In the wire's own words; undefined where the answer failed. */
  stop: string | undefined;
  stopSequence: string | null;
  usage: ReceivedUsage | undefined;
  /** Input tokens in the first event. */
  startInput?: number;
  error?: { type: string; message: string };
  /** What the client puts behind its history: messages, or items. */
  echo: JsonRecord[];
}
