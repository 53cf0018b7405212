/** What a client holds in the end, in the words of no wire. */
import type { JsonRecord } from '../support/violation.js';
import type { WireName } from './dialects.js';
import { readChatStream, readChatWhole } from './read-chat.js';
import { readMessagesStream, readMessagesWhole } from './read-messages.js';
import { readResponsesStream, readResponsesWhole } from './read-responses.js';

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

interface Reader {
  /** Throws StreamViolation where a strict client would. */
  stream(text: string): Received;
  whole(body: unknown): Received;
  /** `type` and `message` of an error body; undefined where it is none of this wire. */
  error(body: unknown): { type: string; message: string } | undefined;
}

const READERS: Readonly<Record<WireName, Pick<Reader, 'stream' | 'whole'>>> = {
  messages: { stream: readMessagesStream, whole: readMessagesWhole },
  chat: { stream: readChatStream, whole: readChatWhole },
  responses: { stream: readResponsesStream, whole: readResponsesWhole },
};

export const readStream = (wire: WireName, text: string): Received => READERS[wire].stream(text);
export const readWhole = (wire: WireName, body: unknown): Received => READERS[wire].whole(body);

/** How an answer ended, by what its wire calls it. */
export const STOP_WORDS: Readonly<Record<WireName, Readonly<Record<string, string>>>> = {
  messages: {},
  chat: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    pause_turn: 'length',
    model_context_window_exceeded: 'length',
    refusal: 'content_filter',
  },
  responses: {
    end_turn: 'completed',
    stop_sequence: 'completed',
    tool_use: 'completed',
    max_tokens: 'incomplete: max_output_tokens',
    pause_turn: 'incomplete: max_output_tokens',
    model_context_window_exceeded: 'incomplete: max_output_tokens',
    refusal: 'incomplete: content_filter',
  },
};
