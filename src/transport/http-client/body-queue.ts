/** From the reads of a socket to the pulls of a consumer: what is between them waits here. */
import type { ResponseBody } from './types.js';

/** A consumer this far behind stops the socket. */
const PAUSE_ABOVE_BYTES = 262_144;

/** What fills the queue. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** The consumer wants no more. */
  cancel(): void;
}

interface Waiter {
  resolve(result: IteratorResult<Buffer, undefined>): void;
  reject(error: Error): void;
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

export class BodyQueue implements ResponseBody {
  readonly #source: BodySource;
  /**
   * TLS hands out each record (16 KB at most) by itself, also when one read of the socket brought
   * several: those are joined by waiting for the end of the event loop's turn.
   */
  readonly #joinReads: boolean;
  #parts: Buffer[] = [];
  #bytes = 0;
  #paused = false;
  #ended = false;
  #error: Error | undefined;
  #waiter: Waiter | undefined;
  #handOverPlanned = false;

  constructor(source: BodySource, joinReads: boolean) {
    this.#source = source;
    this.#joinReads = joinReads;
  }

  push(part: Buffer): void {
    if (this.#ended) return;
    if (this.#waiter !== undefined && !this.#joinReads) {
      this.#settle(this.#waiter, part);
      return;
    }
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#waiter !== undefined) this.#planHandOver();
    if (this.#bytes > PAUSE_ABOVE_BYTES && !this.#paused) {
      this.#paused = true;
      this.#source.pause();
    }
  }

  end(): void {
    this.#ended = true;
    if (this.#parts.length === 0) this.#waiter?.resolve(END);
    if (this.#parts.length === 0) this.#waiter = undefined;
  }

  /** What already came is still handed out first. */
  fail(error: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    if (this.#parts.length > 0 || this.#waiter === undefined) return;
    this.#waiter.reject(this.#takeError(error));
    this.#waiter = undefined;
  }

  /** One pull at a time. */
  next(): Promise<IteratorResult<Buffer, undefined>> {
    if (this.#waiter !== undefined) return Promise.reject(new Error('the body is already being read'));
    if (this.#parts.length > 0) return Promise.resolve({ done: false, value: this.#takeAll() });
    if (this.#error !== undefined) return Promise.reject(this.#takeError(this.#error));
    if (this.#ended) return Promise.resolve(END);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  /** Ends a pull that waits, too. */
  return(): Promise<IteratorReturnResult<undefined>> {
    this.#ended = true;
    this.#error = undefined;
    this.#parts = [];
    this.#bytes = 0;
    this.#waiter?.resolve(END);
    this.#waiter = undefined;
    this.#source.cancel();
    return Promise.resolve(END);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #planHandOver(): void {
    if (this.#handOverPlanned) return;
    this.#handOverPlanned = true;
    setImmediate(() => {
      this.#handOverPlanned = false;
      if (this.#waiter !== undefined && this.#parts.length > 0) this.#settle(this.#waiter, this.#takeAll());
    });
  }

  #settle(waiter: Waiter, value: Buffer): void {
    this.#waiter = undefined;
    waiter.resolve({ done: false, value });
  }

  #takeAll(): Buffer {
    const [first] = this.#parts;
    const all =
      this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts, this.#bytes);
    this.#parts = [];
    this.#bytes = 0;
    if (this.#paused) {
      this.#paused = false;
      this.#source.resume();
    }
    return all;
  }

  /** Thrown once; after it the body has simply ended. */
  #takeError(error: Error): Error {
    this.#error = undefined;
    return error;
  }
}
