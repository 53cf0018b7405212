/** Answers of every wire, and what is a failure in its words. */
import { isRecord } from '../support/violation.js';
import type { WireName } from './dialects.js';
import { readChatStream, readChatWhole } from './read-chat.js';
import { readMessagesStream, readMessagesWhole } from './read-messages.js';
import { readResponsesStream, readResponsesWhole } from './read-responses.js';
import type { Received } from './received.js';

interface Reader {
  /** Throws StreamViolation where a strict client would. */
  stream(text: string): Received;
  whole(body: unknown): Received;
}

const READERS: Readonly<Record<WireName, Reader>> = {
  messages: { stream: readMessagesStream, whole: readMessagesWhole },
  chat: { stream: readChatStream, whole: readChatWhole },
  responses: { stream: readResponsesStream, whole: readResponsesWhole },
};

export const readStream = (wire: WireName, text: string): Received => READERS[wire].stream(text);
export const readWhole = (wire: WireName, body: unknown): Received => READERS[wire].whole(body);

/** The error that a body holds in the shape of the wire; undefined where it holds none. */
export function readError(wire: WireName, body: unknown): ReadError | undefined {
  if (!isRecord(body) || !isRecord(body['error'])) return undefined;
  const { type, message, code } = body['error'];
  if (typeof type !== 'string' || typeof message !== 'string' || message === '') return undefined;
  return wire !== 'messages' || body['type'] === 'error' ? { type, message, code } : undefined;
}

/** The error that a body holds in whatever shape, so that its words can be judged apart from it. */
export function readAnyError(text: string): ReadError {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { type: '', message: text, code: undefined };
  }
  const error = isRecord(body) ? (body['error'] ?? body) : body;
  if (!isRecord(error))
    return { type: '', message: typeof error === 'string' ? error : text, code: undefined };
  const { type, message, code } = error;
  return {
    type: typeof type === 'string' ? type : '',
    message: typeof message === 'string' ? message : text,
    code,
  };
}

export interface ReadError {
  type: string;
  message: string;
  /** On the OpenAI wires. */
  code: unknown;
}

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
