/** What a scripted upstream answers, down to the byte and to how the connection ends. */
import type { Gate } from './gate.js';
import type { HeaderList } from './http-message.js';

export type Bytes = string | Uint8Array;

/**
 * Bytes are one write to the socket, and one HTTP chunk where the framing is chunked. `unframed`
 * goes out as it is, for broken framing. A gate holds what follows until the test opens it.
 */
export type Piece = Bytes | { unframed: Bytes } | Gate;

/**
 * How the connection goes on: `keep-alive` and `close` end a whole answer, the others break it off.
 * `truncate` closes without saying that the body is over, `reset` sends RST, `hang` sends no more.
 */
export type Ending = 'keep-alive' | 'close' | 'truncate' | 'reset' | 'hang';

export interface AnswerOptions {
  status?: number;
  reason?: string;
  /** Sent as given; a list keeps case, order and repetition. */
  headers?: Readonly<Record<string, string>> | HeaderList;
  /** `close`: no length, the end of the connection is the end of the body. */
  framing?: 'length' | 'chunked' | 'close';
  /** Declares another length than the body's own. */
  contentLength?: number;
  end?: Ending;
  /** After so many bytes of the body (framing apart) comes `end`. */
  cutAt?: number;
  /** Every write is cut into writes of so many bytes, framing included: 1 is byte by byte. */
  writeSize?: number;
  /** The head and all pieces up to the next gate leave in one write. */
  together?: boolean;
}

export interface AnswerReply extends AnswerOptions {
  kind: 'answer';
  body: readonly Piece[];
}

export type Reply =
  | AnswerReply
  /** Everything by hand, the status line too. */
  | { kind: 'raw'; pieces: readonly Piece[]; end: Exclude<Ending, 'truncate'> }
  /** Reads the request and never answers. */
  | { kind: 'hang' }
  /** RST before the first byte of an answer. */
  | { kind: 'reset' }
  /** FIN before the first byte of an answer. */
  | { kind: 'close' };

const withType = (type: string, options: AnswerOptions): AnswerOptions =>
  options.headers === undefined || !Array.isArray(options.headers)
    ? {
        ...options,
        headers: { 'content-type': type, ...Object.fromEntries(Object.entries(options.headers ?? {})) },
      }
    : options;

const isList = (body: Bytes | readonly Piece[]): body is readonly Piece[] => Array.isArray(body);

export function answer(body: Bytes | readonly Piece[], options: AnswerOptions = {}): AnswerReply {
  return { kind: 'answer', body: isList(body) ? body : [body], ...options };
}

/** A JSON body with its length, like every provider's whole answers and errors. */
export function json(value: unknown, options: AnswerOptions = {}): AnswerReply {
  return answer(JSON.stringify(value), { framing: 'length', ...withType('application/json', options) });
}

/** An event stream, chunked, each piece a chunk. */
export function sse(body: Bytes | readonly Piece[], options: AnswerOptions = {}): AnswerReply {
  return answer(body, { framing: 'chunked', ...withType('text/event-stream; charset=utf-8', options) });
}

export const raw = (pieces: Bytes | readonly Piece[], end: Exclude<Ending, 'truncate'> = 'close'): Reply => ({
  kind: 'raw',
  pieces: isList(pieces) ? pieces : [pieces],
  end,
});

export const hang = (): Reply => ({ kind: 'hang' });
export const reset = (): Reply => ({ kind: 'reset' });
export const closeEarly = (): Reply => ({ kind: 'close' });

/** One piece for each event of an event stream: the events then arrive one by one. */
export function eventByEvent(text: string): string[] {
  return text.split(/(?<=\n\n)/);
}

/** One piece for each byte. */
export function byteByByte(bytes: Bytes): Uint8Array[] {
  return Array.from(Buffer.from(bytes), (byte) => Uint8Array.of(byte));
}
