/**
 * Bytes of a `text/event-stream` into events, however the network cut them: CRLF, LF or lone CR,
 * comments, data over several lines, characters split between reads. Lines have no limit of their
 * own; one event may hold `maxEventBytes`.
 */
import { GatewayError } from '../core/errors.js';
import type { ServerSentEvent } from '../core/server-sent-event.js';

const LF = 0x0a;
const CR = 0x0d;
const DEFAULT_MAX_EVENT_BYTES = 64 * 1024 * 1024;

export class SseReader {
  readonly #maxEventBytes: number;
  /** Bytes after the last line end: cut there, no character is ever split. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** The last read ended in CR: an LF that comes first in the next one belongs to it. */
  #afterCr = false;
  #atStart = true;
  #event = '';
  #data: string | undefined;
  #dataChars = 0;

  constructor(maxEventBytes = DEFAULT_MAX_EVENT_BYTES) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Appends the events that `chunk` completes to `out`. Throws when one event is larger than allowed. */
  push(chunk: Buffer, out: ServerSentEvent[]): void {
    let bytes = chunk;
    if (this.#afterCr && bytes.length > 0) {
      this.#afterCr = false;
      if (bytes[0] === LF) bytes = bytes.subarray(1);
    }
    if (bytes.length === 0) return;
    const cut = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
    if (cut === 0) {
      this.#keep(bytes);
      return;
    }
    this.#afterCr = cut === bytes.length && bytes[cut - 1] === CR;
    this.#lines(this.#join(bytes.subarray(0, cut)), out);
    if (cut < bytes.length) this.#keep(bytes.subarray(cut));
  }

  /** The stream is over. An event that lacks only its blank line is still given. */
  end(out: ServerSentEvent[]): void {
    if (this.#restBytes > 0) this.#line(this.#join(Buffer.alloc(0)), out);
    this.#dispatch(out);
  }

  #keep(bytes: Buffer): void {
    this.#restBytes += bytes.length;
    this.#bound();
    this.#rest.push(bytes);
  }

  #join(bytes: Buffer): string {
    let text: string;
    if (this.#rest.length === 0) text = bytes.toString('utf8');
    else {
      this.#rest.push(bytes);
      text = Buffer.concat(this.#rest).toString('utf8');
      this.#rest = [];
      this.#restBytes = 0;
    }
    if (!this.#atStart) return text;
    this.#atStart = false;
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  /** `text` ends with a line end. */
  #lines(text: string, out: ServerSentEvent[]): void {
    if (text.includes('\r')) {
      const lines = text.split(/\r\n|\r|\n/);
      for (let i = 0; i < lines.length - 1; i++) this.#line(lines[i] ?? '', out);
      return;
    }
    let from = 0;
    while (from < text.length) {
      const to = text.indexOf('\n', from);
      this.#line(text.slice(from, to), out);
      from = to + 1;
    }
  }

  #line(line: string, out: ServerSentEvent[]): void {
    if (line === '') {
      this.#dispatch(out);
      return;
    }
    if (line.startsWith('data:')) {
      this.#addData(line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5));
    } else if (line.startsWith('event:')) {
      this.#event = line.slice(line.charCodeAt(6) === 0x20 ? 7 : 6);
    } else if (line === 'data') {
      this.#addData('');
    }
    // `id`, `retry`, comments and unknown fields mean nothing to a model's stream.
  }

  #addData(value: string): void {
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    this.#dataChars = this.#data.length;
    this.#bound();
  }

  #dispatch(out: ServerSentEvent[]): void {
    if (this.#data !== undefined && this.#data !== '') out.push({ event: this.#event, data: this.#data });
    this.#event = '';
    this.#data = undefined;
    this.#dataChars = 0;
  }

  #bound(): void {
    if (this.#restBytes + this.#dataChars > this.#maxEventBytes) {
      throw new GatewayError(
        'upstream_failed',
        'The upstream sent a single event that is too large to hold.',
      );
    }
  }
}
