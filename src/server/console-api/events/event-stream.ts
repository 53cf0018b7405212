/**
 * One connection that reads events. What waits for it is kept here and handed to the socket in
 * pieces: a socket that is given all of it says nothing about how much was taken until all is.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { deferred } from '../../../core/deferred.js';
import { onAbort } from '../../../core/stopping.js';
import type { Principal } from '../../../engines/engine.js';
import type { Exchange } from '../../http/exchange.js';
import { baseHeaders } from '../../http/respond.js';
import { SseWriter } from '../../http/sse-writer.js';
import type { EventReader } from './hub.js';
import { type Viewer, viewerOf } from './viewer.js';

interface EventStreamOptions {
  /** Bytes that the reader may be behind, beyond what it was given first. */
  behindBytes: number;
  now: () => number;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies that collect what they pass on would hold back a question until the next one.
  'x-accel-buffering': 'no',
} as const;

const PIECE_BYTES = 64 * 1024;

export class EventStream implements EventReader {
  readonly viewer: Viewer;
  readonly #exchange: Exchange;
  readonly #options: EventStreamOptions;
  readonly #stop = new AbortController();
  readonly #queue: Buffer[] = [];
  #queued = 0;
  #writer: SseWriter | undefined;
  #cut = false;
  /** The largest of what it was given before its head was out; others may hold the same. */
  #first: Buffer | undefined;
  /** Bytes that are left of what it was given first. */
  #firstLeft = 0;
  #stalledSince: number | undefined;
  readonly #over = deferred();
  /** Resolves when everything is sent, or the reader is gone. */
  readonly over = this.#over.promise;

  constructor(exchange: Exchange, options: EventStreamOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.viewer = { ...viewerOf(exchange.principal), ...(exchange.forwarded && { node: true }) };
    onAbort(exchange.signal, () => this.finish());
  }

  get principal(): Principal {
    return this.#exchange.principal;
  }

  get headers(): IncomingHttpHeaders {
    return this.#exchange.request.headers;
  }

  /** It is read by another node, for one that has signed in there. */
  get isOfNode(): boolean {
    return this.#exchange.forwarded !== undefined;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The connection was lost, not ended by the gateway. */
  get isLost(): boolean {
    return this.#cut || this.#exchange.clientGone;
  }

  /** Since when it has taken nothing of what waits for it; undefined while it keeps up. */
  get stalledSince(): number | undefined {
    return this.#stalledSince;
  }

  /** What it was given first, as long as some of it waits. */
  get firstWaiting(): Buffer | undefined {
    return this.#firstLeft > 0 ? this.#first : undefined;
  }

  /** Bytes that wait beside that. */
  get behind(): number {
    const { response } = this.#exchange;
    const handedOver = response.socket?.writableLength ?? response.writableLength;
    return this.#queued - this.#firstLeft + handedOver;
  }

  /** Text that was written before follows the head. */
  start(retryMs: number): void {
    if (this.#stop.signal.aborted) return;
    const exchange = this.#exchange;
    this.#writer = new SseWriter(exchange.response, 200, { ...baseHeaders(exchange), ...HEADERS });
    for (const each of this.#queue) if (each.length > (this.#first?.length ?? 0)) this.#first = each;
    const retry = Buffer.from(`retry: ${retryMs}\n\n`);
    this.#queue.unshift(retry);
    this.#queued += retry.length;
    this.#firstLeft = this.#queued;
    this.#pump();
  }

  write(bytes: Buffer): void {
    if (this.#stop.signal.aborted) return;
    this.#queue.push(bytes);
    this.#queued += bytes.length;
    if (this.#writer === undefined) return;
    this.#pump();
    if (this.behind > this.#options.behindBytes) this.cutOff();
  }

  /** It comes back, to what it has missed or to a snapshot. */
  cutOff(): void {
    this.#cut = true;
    // Not `end`, which would wait for what it does not take.
    this.#exchange.response.socket?.destroy();
    this.finish();
  }

  finish(): void {
    this.#stop.abort();
    this.#over.resolve();
  }

  /** The last piece goes out still; an event that is cut in two is none to its reader. */
  end(): void {
    const last = this.#cut ? undefined : this.#take();
    if (last !== undefined) this.#writer?.writeBytes(last);
    this.#queue.length = 0;
    this.#queued = 0;
    this.#firstLeft = 0;
    this.#first = undefined;
    this.#writer?.end();
  }

  #pump(): void {
    const writer = this.#writer;
    if (writer === undefined || this.#stalledSince !== undefined || this.#stop.signal.aborted) return;
    for (let piece = this.#take(); piece !== undefined; piece = this.#take()) {
      if (writer.writeBytes(piece)) continue;
      this.#stalledSince = this.#options.now();
      void writer.drained().then(() => {
        this.#stalledSince = undefined;
        this.#pump();
      });
      return;
    }
  }

  #take(): Buffer | undefined {
    const [next] = this.#queue;
    if (next === undefined) return undefined;
    const piece = next.length > PIECE_BYTES ? this.#split(next) : this.#gather();
    this.#queued -= piece.length;
    this.#firstLeft = Math.max(0, this.#firstLeft - piece.length);
    if (this.#firstLeft === 0) this.#first = undefined;
    return piece;
  }

  /** Views of the same bytes: they are not copied for each reader. */
  #split(long: Buffer): Buffer {
    this.#queue[0] = long.subarray(PIECE_BYTES);
    return long.subarray(0, PIECE_BYTES);
  }

  #gather(): Buffer {
    let count = 0;
    let bytes = 0;
    for (const each of this.#queue) {
      if (bytes + each.length > PIECE_BYTES) break;
      bytes += each.length;
      count += 1;
    }
    return Buffer.concat(this.#queue.splice(0, count), bytes);
  }
}
