/**
 * The connections that read events. One that takes too little is cut off and comes back; one whose
 * sign-in ends is ended with it. Nobody who tells something ever waits for them.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../core/errors.js';
import type { Principal } from '../../engines/engine.js';
import type { ApprovalCoordinator } from '../../permissions/approvals.js';
import type { Exchange } from '../exchange.js';
import { baseHeaders } from '../respond.js';
import { SseWriter } from '../sse-writer.js';
import type { EventHub, EventReader, Viewer } from './hub.js';

export interface EventStreamsOptions {
  hub: EventHub;
  approvals: Pick<ApprovalCoordinator, 'attend' | 'seen'>;
  /** Whether what the request came with still lets it in. */
  isSignedIn(headers: IncomingHttpHeaders): boolean;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies that collect what they pass on would hold back a question until the next one.
  'x-accel-buffering': 'no',
} as const;

export function viewerOf({ name, scopes }: Principal): Viewer {
  return { principal: name, all: scopes.includes('admin') };
}

export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #streams = new Set<EventStream>();
  readonly #byKey = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Resolves when the stream is over. Throws `rate_limited` while there is no room for one more. */
  async serve(exchange: Exchange, lastId: string | undefined): Promise<void> {
    const { hub } = this.#options;
    const { name } = exchange.principal;
    this.#checkRoom(name);
    const stream = new EventStream(exchange, hub.limits.readerBytes);
    this.#add(stream, name);
    const depart = this.#attend(exchange.principal);
    try {
      await hub.open(stream, lastId, stream.signal);
      stream.start(hub.limits.retryMs);
      await stream.over;
    } finally {
      hub.leave(stream);
      this.#remove(stream, name);
      depart(stream.isLost);
      stream.end();
    }
  }

  /** A sign-in has ended: so do the streams that stood on it. */
  check(): void {
    for (const stream of [...this.#streams]) {
      if (!this.#options.isSignedIn(stream.headers)) stream.finish();
    }
  }

  /** Ends all of them, and takes no more. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const stream of [...this.#streams]) stream.finish();
  }

  #checkRoom(name: string): void {
    const { limits } = this.#options.hub;
    if (this.#closed) throw new GatewayError('unavailable', 'The gateway is shutting down.');
    const own = this.#byKey.get(name) ?? 0;
    if (own < limits.readersOfKey && this.#streams.size < limits.readers) return;
    const most = own < limits.readersOfKey ? limits.readers : limits.readersOfKey;
    throw new GatewayError(
      'rate_limited',
      `${most} readers of events are connected ${own < limits.readersOfKey ? 'here' : `with the key "${name}"`} already, the most there may be. Close pages of the console that are not needed, and try again.`,
      { retryAfter: 5, retryable: true },
    );
  }

  #add(stream: EventStream, name: string): void {
    this.#streams.add(stream);
    this.#byKey.set(name, (this.#byKey.get(name) ?? 0) + 1);
    this.#timer ??= setInterval(() => {
      this.check();
      this.#options.hub.ping();
    }, this.#options.hub.limits.pingMs).unref();
  }

  #remove(stream: EventStream, name: string): void {
    this.#streams.delete(stream);
    const left = (this.#byKey.get(name) ?? 1) - 1;
    if (left > 0) this.#byKey.set(name, left);
    else this.#byKey.delete(name);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Whoever reads and may answer is there; a connection that is lost is usually back in a moment. */
  #attend({ name, scopes }: Principal): (mayComeBack: boolean) => void {
    if (!scopes.includes('approve')) return () => {};
    const { approvals } = this.#options;
    const whose = scopes.includes('admin') ? undefined : name;
    const depart = approvals.attend(whose);
    return (mayComeBack) => {
      if (mayComeBack) approvals.seen(whose);
      depart();
    };
  }
}

class EventStream implements EventReader {
  readonly viewer: Viewer;
  readonly #exchange: Exchange;
  readonly #stop = new AbortController();
  readonly #behindBytes: number;
  #writer: SseWriter | undefined;
  #cut = false;
  /** Before the head is out. */
  #early: Buffer[] = [];
  /** What the reader may be behind: what it is given first is not held against it. */
  #limit: number;
  #finish: () => void = () => {};
  /** Resolves when nothing more is to be said, or nobody is there to hear it. */
  readonly over = new Promise<void>((resolve) => {
    this.#finish = resolve;
  });

  constructor(exchange: Exchange, behindBytes: number) {
    this.#exchange = exchange;
    this.#behindBytes = behindBytes;
    this.#limit = behindBytes;
    this.viewer = viewerOf(exchange.principal);
    const onAbort = () => this.finish();
    if (exchange.signal.aborted) onAbort();
    else exchange.signal.addEventListener('abort', onAbort, { once: true });
  }

  get headers(): IncomingHttpHeaders {
    return this.#exchange.request.headers;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The connection went, and nobody had ended it. */
  get isLost(): boolean {
    return this.#cut || this.#exchange.clientGone;
  }

  /** What was written before is given out behind the head. */
  start(retryMs: number): void {
    if (this.#stop.signal.aborted) return;
    const exchange = this.#exchange;
    this.#writer = new SseWriter(exchange.response, 200, { ...baseHeaders(exchange), ...HEADERS });
    const first = Buffer.concat([Buffer.from(`retry: ${retryMs}\n\n`), ...this.#early.splice(0)]);
    this.#limit = this.#behindBytes + first.length;
    this.#writer.writeBytes(first);
  }

  write(bytes: Buffer): void {
    if (this.#stop.signal.aborted) return;
    if (this.#writer === undefined) {
      this.#early.push(bytes);
      return;
    }
    this.#writer.writeBytes(bytes);
    const { response } = this.#exchange;
    const behind = response.socket?.writableLength ?? response.writableLength;
    if (behind <= this.#limit) {
      if (behind === 0) this.#limit = this.#behindBytes;
      return;
    }
    this.#cut = true;
    // Not `end`, which would wait for what it does not take.
    response.socket?.destroy();
    this.finish();
  }

  finish(): void {
    this.#stop.abort();
    this.#finish();
  }

  end(): void {
    this.#writer?.end();
  }
}
