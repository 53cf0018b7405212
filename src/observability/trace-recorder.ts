/**
 * Keeps what went through the gateway for one request: inbound, outbound, the upstream's bytes,
 * and what was emitted. References only, bounded, and off the hot path: which requests are recorded
 * is decided when they come in, so that one that is not costs nothing.
 */
import type { JsonObject } from '../core/conversation.js';

/** More of one request than this is cut, and said to be. */
const TRACE_LIMIT = 2 * 1024 * 1024;

export interface TracedAttempt {
  upstream: string;
  url: string;
  body: string;
  status: number | null;
  headers: Readonly<Record<string, string | undefined>>;
  /** One entry for each read, so that a replay can cut the bytes the same way. */
  chunks: string[];
}

/** Bytes that are not UTF-8 at a chunk's edge survive as base64. */
type Bytes = Uint8Array;

interface Attempt {
  upstream: string;
  url: string;
  body: Bytes | string;
  status: number | null;
  headers: Readonly<Record<string, string | undefined>>;
  chunks: Bytes[];
}

export class TraceRecorder {
  readonly #budget: TraceBudget;
  #inbound: { path: string; headers: Readonly<Record<string, string | undefined>>; body: Bytes } | undefined;
  readonly #attempts: Attempt[] = [];
  readonly #emitted: string[] = [];
  #bytes = 0;
  #cut = false;

  constructor(budget: TraceBudget) {
    this.#budget = budget;
  }

  inbound(path: string, headers: Readonly<Record<string, string | undefined>>, body: Bytes): void {
    this.#inbound = { path, headers, body: this.#keep(body.length) ? body : new Uint8Array(0) };
  }

  outbound(upstream: string, url: string, body: Bytes | string): void {
    const kept = this.#keep(body.length) ? body : '';
    this.#attempts.push({ upstream, url, body: kept, status: null, headers: {}, chunks: [] });
  }

  upstreamHead(status: number, headers: Readonly<Record<string, string | undefined>>): void {
    const attempt = this.#attempts.at(-1);
    if (attempt === undefined) return;
    attempt.status = status;
    attempt.headers = headers;
  }

  upstreamChunk(chunk: Bytes): void {
    if (this.#keep(chunk.length)) this.#attempts.at(-1)?.chunks.push(chunk);
  }

  emitted(text: string): void {
    if (this.#keep(text.length)) this.#emitted.push(text);
  }

  /** Call once, when the exchange is over; the recorder is empty afterwards. */
  finish(): JsonObject {
    this.#budget.release(this.#bytes);
    this.#bytes = 0;
    return {
      version: 1,
      cut: this.#cut,
      inbound:
        this.#inbound === undefined
          ? null
          : {
              path: this.#inbound.path,
              headers: this.#inbound.headers,
              body: Buffer.from(this.#inbound.body).toString('utf8'),
            },
      attempts: this.#attempts.map((attempt) => ({
        ...attempt,
        body: typeof attempt.body === 'string' ? attempt.body : Buffer.from(attempt.body).toString('utf8'),
        chunks: attempt.chunks.map(encodeChunk),
      })),
      emitted: this.#emitted,
    };
  }

  #keep(bytes: number): boolean {
    if (this.#bytes + bytes > TRACE_LIMIT || !this.#budget.take(bytes)) {
      this.#cut = true;
      return false;
    }
    this.#bytes += bytes;
    return true;
  }
}

const FATAL = new TextDecoder('utf-8', { fatal: true });

/** Text where it is text; `base64:…` where the network cut a character in two. */
export function encodeChunk(chunk: Uint8Array): string {
  try {
    const text = FATAL.decode(chunk);
    return text.startsWith('base64:') ? `base64:${Buffer.from(chunk).toString('base64')}` : text;
  } catch {
    return `base64:${Buffer.from(chunk).toString('base64')}`;
  }
}

export function decodeChunk(text: string): Buffer {
  return text.startsWith('base64:') ? Buffer.from(text.slice(7), 'base64') : Buffer.from(text, 'utf8');
}

/** Bytes that all recorders together may hold. */
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
