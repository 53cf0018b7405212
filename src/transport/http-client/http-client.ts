/**
 * HTTP/1.1 to upstreams, straight on node:net and node:tls: one read of the socket becomes one
 * buffer for the consumer, and a request is one write.
 */
import { transcode } from 'node:buffer';
import type { LookupFunction } from 'node:net';
import { GatewayError } from '../../core/errors.js';
import type { UpstreamConnection } from './connection.js';
import { decodeContent } from './content-decoding.js';
import { Dial, type NetworkPath, networkPathOf, TlsState } from './dial.js';
import { cancelled, shuttingDown } from './failure.js';
import { ConnectionPool } from './pool.js';
import { ProxySettings } from './proxy.js';
import { encodeHead } from './request-head.js';
import type { ResponseHead } from './response-head.js';
import { HttpRoundTrip, type Outgoing, StaleConnection } from './round-trip.js';
import type { HttpClientOptions, HttpRequest, HttpResponse } from './types.js';

const DEFAULTS = { maxIdlePerHost: 64, keepAliveMs: 30_000 };
/** An upstream that says when it closes is left this much earlier. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/** A request without its body: what may be kept while the answer runs. */
interface Call {
  route: NetworkPath;
  bodiless: boolean;
  signal: AbortSignal;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  idleTimeoutMs: number;
}

export class HttpClient {
  readonly #pool: ConnectionPool;
  readonly #keepAliveMs: number;
  readonly #lookup: LookupFunction | undefined;
  readonly #proxies: ProxySettings;
  readonly #tls: TlsState;
  readonly #connections = new Set<UpstreamConnection>();
  /** Upstreams ask with the same object each time. */
  readonly #routes = new WeakMap<URL, NetworkPath>();
  readonly #dials = new Set<Dial>();
  #closed = false;
  #onLastGone: () => void = () => {};

  /** Throws GatewayError when a proxy variable of the environment cannot be used. */
  constructor(options: HttpClientOptions = {}) {
    this.#pool = new ConnectionPool(options.maxIdlePerHost ?? DEFAULTS.maxIdlePerHost);
    this.#keepAliveMs = options.keepAliveMs ?? DEFAULTS.keepAliveMs;
    this.#lookup = options.lookup;
    this.#proxies = new ProxySettings(options.env ?? process.env);
    this.#tls = new TlsState(options.ca);
  }

  /**
   * Resolves with the head, whatever its status; redirects are not followed. Rejects with
   * GatewayError only: `upstream_failed`, `upstream_timeout`, `client_closed` when the signal fired.
   * The answer's body must be read to its end or ended with `return()`.
   */
  async request(request: HttpRequest): Promise<HttpResponse> {
    if (this.#closed) throw shuttingDown();
    const { signal } = request;
    if (signal.aborted) throw cancelled(signal);
    const call: Call = {
      route: this.#routeTo(request.url),
      bodiless: request.method === 'HEAD',
      signal,
      connectTimeoutMs: request.connectTimeoutMs,
      headersTimeoutMs: request.headersTimeoutMs,
      idleTimeoutMs: request.idleTimeoutMs,
    };
    return this.#run(call, prepare(request, call.route));
  }

  #routeTo(url: URL): NetworkPath {
    const known = this.#routes.get(url);
    if (known !== undefined) return known;
    const route = networkPathOf(url, this.#proxies);
    this.#routes.set(url, route);
    return route;
  }

  /** Ends what still runs, and resolves when every socket is closed. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const dial of this.#dials) dial.stop(shuttingDown());
    for (const connection of this.#connections) connection.destroy(shuttingDown());
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onLastGone = resolve;
    });
  }

  async #run(call: Call, outgoing: Outgoing): Promise<HttpResponse> {
    const kept = this.#pool.take(call.route.key);
    if (kept !== undefined) {
      try {
        return await this.#exchange(call, outgoing, kept, true);
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error;
      }
    }
    return this.#exchange(call, outgoing, await this.#dial(call), false);
  }

  async #exchange(
    call: Call,
    outgoing: Outgoing,
    connection: UpstreamConnection,
    reused: boolean,
  ): Promise<HttpResponse> {
    const { target } = call.route;
    const exchange = new HttpRoundTrip(connection, {
      target,
      bodiless: call.bodiless,
      signal: call.signal,
      headersTimeoutMs: call.headersTimeoutMs,
      idleTimeoutMs: call.idleTimeoutMs,
      reused,
      release: (released, head) => this.#release(released, head),
    });
    const { head, body } = await exchange.run(outgoing);
    const { status, headers } = head;
    const encoding = headers['content-encoding'];
    if (encoding === undefined) return { status, headers, body };
    const decoded = decodeContent(body, encoding, target);
    delete headers['content-encoding'];
    delete headers['content-length'];
    return { status, headers, body: decoded };
  }

  async #dial(call: Call): Promise<UpstreamConnection> {
    const dial = new Dial({
      route: call.route,
      signal: call.signal,
      timeoutMs: call.connectTimeoutMs,
      lookup: this.#lookup,
      tls: this.#tls,
      onGone: (connection) => this.#forget(connection),
    });
    this.#dials.add(dial);
    try {
      const connection = await dial.connection;
      this.#connections.add(connection);
      if (this.#closed) connection.destroy(shuttingDown());
      return connection;
    } finally {
      this.#dials.delete(dial);
    }
  }

  #release(connection: UpstreamConnection, head: ResponseHead): void {
    if (this.#closed) connection.destroy();
    else this.#pool.put(connection, this.#idleTime(head.headers['keep-alive']));
  }

  #idleTime(hint: string | undefined): number {
    const seconds = hint === undefined ? null : /(?:^|[\s,;])timeout=(\d{1,9})/i.exec(hint);
    if (seconds === null) return this.#keepAliveMs;
    return Math.min(this.#keepAliveMs, Number(seconds[1]) * 1000 - KEEP_ALIVE_MARGIN_MS);
  }

  #forget(connection: UpstreamConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#onLastGone();
  }
}

function prepare(request: HttpRequest, route: NetworkPath): Outgoing {
  const { body } = request;
  const bytes = typeof body === 'string' ? encodeUtf8(body) : body;
  const { proxy } = route;
  const head = encodeHead({
    method: request.method,
    url: request.url,
    headers: request.headers,
    bodyLength: bytes?.length,
    viaProxy: proxy === undefined || route.secure ? undefined : { authorization: proxy.authorization },
  });
  return { head, body: bytes };
}

/** Below this the two native calls cost as much as they save. */
const TRANSCODE_FROM = 4096;

/**
 * The bytes of a text. `Buffer.from` walks a long two-byte string (one character beyond Latin-1 is
 * enough to make it one) three times; copying it out and transcoding is 3 to 4 times cheaper.
 */
export function encodeUtf8(text: string): Buffer {
  if (text.length < TRANSCODE_FROM) return Buffer.from(text, 'utf8');
  try {
    return transcode(Buffer.from(text, 'utf16le'), 'utf16le', 'utf8');
  } catch {
    // A lone surrogate: transcode refuses it, Buffer.from writes U+FFFD.
    return Buffer.from(text, 'utf8');
  }
}

/** A whole body. Over `limitBytes` the connection is dropped and GatewayError thrown. */
export async function readAll(body: AsyncIterable<Buffer>, limitBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > limitBytes) {
      throw new GatewayError('upstream_failed', `The upstream's answer is larger than ${limitBytes} bytes.`);
    }
    parts.push(part);
  }
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, size);
}
