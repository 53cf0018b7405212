/** One request and its answer on one connection. */
import { BodyQueue, type BodySource } from './body-queue.js';
import { type ConnectionUser, startTimer, type UpstreamConnection } from './connection.js';
import { cancelled, closedEarly, type RequestTarget, timedOut, wireFailure } from './failure.js';
import type { ResponseHead } from './response-head.js';
import { ResponseParser } from './response-parser.js';

/**
 * A kept connection that the peer had closed shows it within a round trip. One that fails later had
 * taken the request, and a model call is not made twice.
 */
const STALE_WITHIN_MS = 3000;

export interface Outgoing {
  head: string;
  /** Dropped as soon as it cannot be needed again. */
  body: Uint8Array | undefined;
}

interface RoundTripOptions {
  target: RequestTarget;
  /** The request was HEAD. */
  bodiless: boolean;
  signal: AbortSignal;
  headersTimeoutMs: number;
  idleTimeoutMs: number;
  /** The connection has carried a request before. */
  reused: boolean;
  /** Takes the connection back, fit for another request. */
  release(connection: UpstreamConnection, head: ResponseHead): void;
}

/** The kept connection was dead before anything came back: the request can go over a fresh one. */
export class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
}

interface Answered {
  head: ResponseHead;
  body: BodyQueue;
}

export class HttpRoundTrip implements ConnectionUser, BodySource {
  readonly #connection: UpstreamConnection;
  readonly #options: RoundTripOptions;
  readonly #parser: ResponseParser;
  readonly #body: BodyQueue;
  #outgoing: Outgoing | undefined;
  #settle: { resolve(answered: Answered): void; reject(error: Error): void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #flushed = false;
  #answering = false;
  #finished = false;

  constructor(connection: UpstreamConnection, options: RoundTripOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#parser = new ResponseParser(options.bodiless);
    this.#body = new BodyQueue(this, connection.encrypted);
  }

  /** Resolves with the head. Rejects with GatewayError, or StaleConnection on a reused connection. */
  run(outgoing: Outgoing): Promise<Answered> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      const { signal } = this.#options;
      if (signal.aborted) {
        this.#fail(cancelled(signal));
        return;
      }
      signal.addEventListener('abort', this);
      this.#outgoing = outgoing;
      this.#connection.user = this;
      this.#startAnswerTimer();
      this.#connection.send(outgoing.head, outgoing.body, () => this.#onFlushed());
    });
  }

  handleEvent(): void {
    this.#fail(cancelled(this.#options.signal));
  }

  onRead(bytes: Buffer): void {
    this.#answering = true;
    const headBefore = this.#parser.head;
    let part: Buffer | undefined;
    try {
      part = this.#parser.push(bytes);
    } catch (error) {
      this.#fail(wireFailure(this.#options.target, 'answer', error));
      return;
    }
    const { head } = this.#parser;
    if (head === undefined) return;
    if (this.#parser.done) this.#finish(head);
    else if (headBefore === undefined) this.#startIdleTimer();
    else this.#timer?.refresh();
    if (part !== undefined) this.#body.push(part);
    if (this.#parser.done) this.#body.end();
    if (headBefore === undefined) this.#answer(head);
  }

  onClosed(error: Error | undefined): void {
    const { target } = this.#options;
    const { head } = this.#parser;
    if (error === undefined && head !== undefined && this.#parser.end()) {
      this.#finish(head);
      this.#body.end();
      return;
    }
    if (this.#isStale()) {
      this.#fail(new StaleConnection());
      return;
    }
    const stage = head === undefined ? 'answer' : 'body';
    this.#fail(error === undefined ? closedEarly(target, stage) : wireFailure(target, stage, error));
  }

  pause(): void {
    if (this.#finished) return;
    this.#connection.pause();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  resume(): void {
    if (this.#finished) return;
    this.#startIdleTimer();
    this.#connection.resume();
  }

  cancel(): void {
    if (this.#finished) return;
    this.#cleanUp();
    this.#connection.destroy();
  }

  #onFlushed(): void {
    this.#flushed = true;
    if (this.#finished || this.#answering) return;
    this.#timer?.refresh();
    if (!this.#options.reused) this.#dropBody();
  }

  /** On a reused connection in two steps: the first ends the time in which the body may be wanted again. */
  #startAnswerTimer(): void {
    const { target, reused, headersTimeoutMs } = this.#options;
    const expire = () => this.#fail(timedOut(target, 'answer', headersTimeoutMs));
    if (!reused || (headersTimeoutMs > 0 && headersTimeoutMs <= STALE_WITHIN_MS)) {
      this.#timer = startTimer(headersTimeoutMs, expire);
      return;
    }
    this.#timer = startTimer(STALE_WITHIN_MS, () => {
      this.#dropBody();
      this.#timer = startTimer(headersTimeoutMs - STALE_WITHIN_MS, expire);
    });
  }

  #isStale(): boolean {
    return this.#options.reused && !this.#answering && this.#outgoing !== undefined;
  }

  #dropBody(): void {
    if (this.#outgoing !== undefined) this.#outgoing.body = undefined;
    this.#outgoing = undefined;
  }

  #answer(head: ResponseHead): void {
    this.#dropBody();
    this.#settle?.resolve({ head, body: this.#body });
    this.#settle = undefined;
  }

  #startIdleTimer(): void {
    clearTimeout(this.#timer);
    const { target, idleTimeoutMs } = this.#options;
    this.#timer = startTimer(idleTimeoutMs, () => this.#fail(timedOut(target, 'body', idleTimeoutMs)));
  }

  #finish(head: ResponseHead): void {
    this.#cleanUp();
    // An answer that came before the whole request was sent leaves the rest of it on the wire.
    const reusable = head.keepAlive && this.#flushed && !this.#parser.excess && this.#connection.usable;
    if (reusable) this.#options.release(this.#connection, head);
    else this.#connection.destroy();
  }

  #fail(error: Error): void {
    if (this.#finished) return;
    this.#cleanUp();
    this.#connection.destroy();
    if (error instanceof StaleConnection === false) this.#dropBody();
    if (this.#settle === undefined) this.#body.fail(error);
    else this.#settle.reject(error);
    this.#settle = undefined;
  }

  #cleanUp(): void {
    this.#finished = true;
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener('abort', this);
  }
}
