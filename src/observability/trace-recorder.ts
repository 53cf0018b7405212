/**
 * Keeps what went through the gateway for one request: inbound, outbound, the upstream's bytes and
 * what was emitted for them, in order. References only, bounded, and off the hot path: which
 * requests are recorded is decided when they come in, so that one that is not costs nothing.
 */
import type { DialectName, JsonObject } from '../core/conversation.js';

type Headers = Readonly<Record<string, string | undefined>>;

/** What is stored of a trace, and what a file for a replay holds. */
export interface TracePayload {
  version: 1;
  /** Something was too large to keep. */
  cut: boolean;
  inbound: { path: string; headers: Headers; body: string } | null;
  /** Every try, the failed ones too. */
  attempts: TracedAttempt[];
  /** Reads from the upstream and writes to the client, as they happened. */
  timeline: TracedPiece[];
}

interface TracedAttempt {
  upstream: string;
  wire: DialectName;
  url: string;
  body: string;
  status: number | null;
  headers: Headers;
}

interface TracedPiece {
  /** Milliseconds since the request came in. */
  ms: number;
  from: 'upstream' | 'gateway';
  /** Which attempt, for what came from an upstream. */
  attempt?: number;
  /** Text; `base64:…` where the network cut a character in two. */
  data: string;
}

/** More of one request than this is cut, and said to be. */
const TRACE_LIMIT = 2 * 1024 * 1024;

type Bytes = Uint8Array;

export class TraceRecorder {
  readonly #budget: TraceBudget;
  readonly #startedAt = performance.now();
  #inbound: { path: string; headers: Headers; body: Bytes } | undefined;
  readonly #attempts: (Omit<TracedAttempt, 'body'> & { body: Bytes | string })[] = [];
  readonly #timeline: (Omit<TracedPiece, 'data'> & { data: Bytes | string })[] = [];
  #bytes = 0;
  #finished = false;
  #cut = false;

  constructor(budget: TraceBudget) {
    this.#budget = budget;
  }

  inbound(path: string, headers: Headers, body: Bytes): void {
    this.#inbound = { path, headers, body: this.#keep(body.length) ? body : new Uint8Array(0) };
  }

  outbound(request: { upstream: string; dialect: DialectName; url: string; body: Bytes | string }): void {
    const { upstream, dialect: wire, url } = request;
    const body = this.#keep(request.body.length) ? request.body : '';
    this.#attempts.push({ upstream, wire, url, body, status: null, headers: {} });
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

  /** Call once, when the exchange is over. */
  finish(): TracePayload & JsonObject {
    this.#finished = true;
    this.#budget.release(this.#bytes);
    this.#bytes = 0;
    const inbound = this.#inbound;
    return {
      version: 1,
      cut: this.#cut,
      inbound: inbound === undefined ? null : { ...inbound, body: textOf(inbound.body) },
      attempts: this.#attempts.map((attempt) => ({ ...attempt, body: textOf(attempt.body) })),
      timeline: this.#timeline.map((piece) => ({
        ...piece,
        data: typeof piece.data === 'string' ? piece.data : encodeChunk(piece.data),
      })),
    };
  }

  #ms(): number {
    return Math.round((performance.now() - this.#startedAt) * 10) / 10;
  }

  #keep(bytes: number): boolean {
    // An answer that others share may go on for them.
    if (this.#finished) return false;
    if (this.#bytes + bytes > TRACE_LIMIT || !this.#budget.take(bytes)) {
      this.#cut = true;
      return false;
    }
    this.#bytes += bytes;
    return true;
  }
}

function textOf(bytes: Bytes | string): string {
  return typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8');
}

const FATAL = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function encodeChunk(chunk: Uint8Array): string {
  try {
    const text = FATAL.decode(chunk);
    if (!text.startsWith('base64:')) return text;
  } catch {
    // Not text by itself.
  }
  return `base64:${Buffer.from(chunk).toString('base64')}`;
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
