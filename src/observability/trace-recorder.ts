/**
 * Keeps what went through the gateway for one request: inbound, outbound, the upstream's bytes and
 * what was emitted for them, in order. References only, bounded, and off the hot path: which
 * requests are recorded is decided when they come in, so that one that is not costs nothing.
 */
import type { DialectName } from '../core/conversation.js';
import type { RecordedRequest } from '../core/trace-payload.js';

type Headers = Readonly<Record<string, string | undefined>>;

/** More of one request than this is cut, and said to be. */
const TRACE_LIMIT = 2 * 1024 * 1024;

/** What a piece takes in memory beside its bytes: a stream of small ones is mostly this. */
export const PIECE_BYTES = 400;

type Bytes = Uint8Array;

export class TraceRecorder {
  readonly #budget: TraceBudget;
  readonly #startedAt = performance.now();
  #inbound: RecordedRequest['inbound'] = null;
  readonly #attempts: RecordedRequest['attempts'] = [];
  readonly #timeline: RecordedRequest['timeline'] = [];
  #bytes = 0;
  /** Of the budget. */
  #held = 0;
  #finished = false;
  #cut = false;

  constructor(budget: TraceBudget) {
    this.#budget = budget;
  }

  inbound(path: string, headers: Headers, body: Bytes): void {
    this.#inbound = { path, headers, body: this.#keep(body.length) ? body : new Uint8Array(0) };
  }

  outbound(request: {
    upstream: string;
    dialect: DialectName;
    url: string;
    body: Bytes | string;
    reason?: string;
  }): void {
    const { upstream, dialect: wire, url, reason } = request;
    const body = this.#keep(request.body.length) ? request.body : '';
    const why = reason === undefined ? {} : { reason };
    this.#attempts.push({ upstream, ...why, wire, url, body, status: null, headers: {} });
  }

  upstreamHead(status: number, headers: Headers): void {
    const attempt = this.#attempts.at(-1);
    if (attempt === undefined) return;
    attempt.status = status;
    attempt.headers = headers;
  }

  upstreamChunk(chunk: Bytes): void {
    if (!this.#keep(chunk.length)) return;
    this.#timeline.push({
      ms: this.#ms(),
      from: 'upstream',
      attempt: this.#attempts.length - 1,
      data: chunk,
    });
  }

  emitted(text: string): void {
    if (this.#keep(text.length)) this.#timeline.push({ ms: this.#ms(), from: 'gateway', data: text });
  }

  /** Call once, when the exchange is over. What it gives belongs to the caller. */
  finish(): RecordedRequest {
    this.#finished = true;
    this.#budget.release(this.#held);
    this.#held = 0;
    return {
      cut: this.#cut,
      inbound: this.#inbound,
      attempts: this.#attempts,
      timeline: this.#timeline,
      size: this.#bytes,
    };
  }

  #ms(): number {
    return Math.round((performance.now() - this.#startedAt) * 10) / 10;
  }

  #keep(bytes: number): boolean {
    // An answer that others share may go on for them.
    if (this.#finished) return false;
    const held = bytes + PIECE_BYTES;
    if (this.#bytes + bytes > TRACE_LIMIT || !this.#budget.take(held)) {
      this.#cut = true;
      return false;
    }
    this.#bytes += bytes;
    this.#held += held;
    return true;
  }
}

/** Memory that all recorders together may hold. */
export class TraceBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#left += bytes;
  }
}

const HELD_BYTES = 16 * 1024 * 1024;
const PER_SECOND = 2;
const BURST = 30;

/** A person at work is recorded whole; under load a sample is, and the rest costs nothing. */
export class TraceSampler {
  readonly #budget = new TraceBudget(HELD_BYTES);
  readonly #now: () => number;
  #tokens = BURST;
  #at: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  begin(): TraceRecorder | undefined {
    const now = this.#now();
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#at) / 1000) * PER_SECOND);
    this.#at = now;
    if (this.#tokens < 1) return undefined;
    this.#tokens -= 1;
    return new TraceRecorder(this.#budget);
  }
}
