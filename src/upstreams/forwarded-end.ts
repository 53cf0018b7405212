/**
 * How a forwarded stream ends, for each dialect, from its last events. The bytes of the byte lane
 * are not decoded; only when a stream breaks must be known what a client still waits for.
 */
import type { DialectName, JsonObject } from '../core/conversation.js';
import { isObject } from '../core/is-object.js';
import type { ServerSentEvent } from '../core/server-sent-event.js';

/** `stopped`: everything is said but the wire's last word. */
export type Stage = 'open' | 'stopped' | 'over';

/** An event with its JSON. `type` is the event's name where the wire has names. */
interface Read {
  type: string;
  data: string;
  value: JsonObject;
}

interface WireEnd {
  /** Of one event. */
  stageOf(event: Read): Stage;
  lastWord: string;
  /** What ends a stream in the middle: `error` is the body of a failed request of this dialect. */
  errorText(error: JsonObject, last: Read | undefined): string;
}

const named = (type: string, value: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify(value)}\n\n`;

/** After these a block is open. */
const IN_BLOCK: ReadonlySet<string> = new Set(['content_block_start', 'content_block_delta']);
const RESPONSE_OVER: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);
const DONE = '[DONE]';

const ENDS: Readonly<Record<DialectName, WireEnd>> = {
  'anthropic-messages': {
    stageOf({ type, value }) {
      if (type === 'message_stop' || type === 'error') return 'over';
      const { delta } = value;
      const stopped = type === 'message_delta' && isObject(delta) && typeof delta['stop_reason'] === 'string';
      return stopped ? 'stopped' : 'open';
    },
    lastWord: named('message_stop', { type: 'message_stop' }),
    errorText(error, last) {
      const index = last?.value['index'];
      const isOpen = last !== undefined && IN_BLOCK.has(last.type) && typeof index === 'number';
      const closing = isOpen ? named('content_block_stop', { type: 'content_block_stop', index }) : '';
      return closing + named('error', error);
    },
  },
  'openai-chat': {
    stageOf({ data, value }) {
      if (data.startsWith(DONE) || value['error']) return 'over';
      const [choice]: unknown[] = Array.isArray(value['choices']) ? value['choices'] : [];
      return isObject(choice) && typeof choice['finish_reason'] === 'string' ? 'stopped' : 'open';
    },
    lastWord: `data: ${DONE}\n\n`,
    errorText: (error) => `data: ${JSON.stringify(error)}\n\n`,
  },
  'openai-responses': {
    stageOf: ({ type }) => (RESPONSE_OVER.has(type) ? 'over' : 'open'),
    lastWord: '',
    errorText(error, last) {
      const number = last?.value['sequence_number'];
      const inner = isObject(error['error']) ? error['error'] : {};
      const { code = null, message = '', param = null } = inner;
      const sequence = typeof number === 'number' ? number + 1 : 0;
      const value = { type: 'error', code, message, param, sequence_number: sequence, error: inner };
      return named('error', value);
    },
  },
};

/** The furthest that any of the last events has gone. */
export function stageOf(dialect: DialectName, recent: readonly ServerSentEvent[]): Stage {
  const stages = recent.map((event) => ENDS[dialect].stageOf(read(event)));
  if (stages.includes('over')) return 'over';
  return stages.includes('stopped') ? 'stopped' : 'open';
}

export function lastWordOf(dialect: DialectName): string {
  return ENDS[dialect].lastWord;
}

/** The text that ends a stream which has come as far as `recent`. */
export function errorTextOf(
  dialect: DialectName,
  recent: readonly ServerSentEvent[],
  error: JsonObject,
): string {
  const last = recent.map(read).findLast(({ type }) => type !== 'ping');
  return ENDS[dialect].errorText(error, last);
}

/** An event that the end of the stream has not cut: its data is JSON, or the wire's word for the end. */
export function isWholeEvent({ data }: ServerSentEvent): boolean {
  return data.startsWith(DONE) || parse(data) !== undefined;
}

function read({ event, data }: ServerSentEvent): Read {
  const parsed = parse(data);
  const value = isObject(parsed) ? parsed : {};
  const { type } = value;
  return { type: typeof type === 'string' ? type : event, data, value };
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
