/**
 * Which exchanges run on which connection: when a connection goes, so does its work, unless it is to go on. And the answers to
 * what Node's parser could not read, or what did not come in time.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { deferred } from '../../core/deferred.js';
import { GatewayError } from '../../core/errors.js';
import { StopError } from '../../core/stopping.js';
import { clientClosed, type Exchange } from './exchange.js';
import { errorShapeOf } from './respond.js';

/** An exchange is over when its handler is, and its answer is out or its connection gone. */
interface Progress {
  /** Resolves when the handler is through. */
  work: Promise<void>;
  worked: boolean;
  written: boolean;
}

interface ClientConnection {
  readonly socket: Socket;
  /** More than one when a client pipelines. */
  readonly exchanges: Map<Exchange, Progress>;
  /** Nothing more is read from it; written as soon as what runs has been answered. */
  lastWords: string | undefined;
  broken: boolean;
}

interface ConnectionEvents {
  /** Called once for each exchange. */
  onDone(exchange: Exchange): void;
  /** Instead of `onDone`: the connection is gone and the exchange goes on, until `work` is through. */
  onLeft(exchange: Exchange, work: Promise<void>): void;
  /** Nothing runs on the connection any more; it may be closed already. */
  onIdle(connection: ClientConnection): void;
}

export class Connections {
  readonly #open = new WeakMap<Duplex, ClientConnection>();
  readonly #running = new Set<Exchange>();
  readonly #stallMs: number;
  readonly #events: ConnectionEvents;
  #whenIdle: (() => void)[] = [];

  /** `stallMs`: a reader that takes nothing of a finished answer for this long is given up. */
  constructor(stallMs: number, events: ConnectionEvents) {
    this.#stallMs = stallMs;
    this.#events = events;
  }

  get running(): ReadonlySet<Exchange> {
    return this.#running;
  }

  /**
   * Listens to the socket and not to the response: a response that is queued behind another one of
   * the same connection gets no event of its end.
   */
  open(socket: Socket): void {
    // A request whose offer of another protocol is ignored is read once more, as if it came on a new connection.
    if (this.#open.has(socket)) return;
    const connection: ClientConnection = {
      socket,
      exchanges: new Map(),
      lastWords: undefined,
      broken: false,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      for (const [exchange, { work, worked }] of [...connection.exchanges]) {
        if (!worked && exchange.outlivesClient()) {
          this.#remove(connection, exchange);
          this.#events.onLeft(exchange, work);
          continue;
        }
        exchange.abort(clientClosed());
        this.#progress(connection, exchange, 'written');
      }
    });
  }

  of(socket: Duplex): ClientConnection | undefined {
    return this.#open.get(socket);
  }

  /** `work` never rejects. */
  begin(exchange: Exchange, work: () => Promise<void>): void {
    const connection = this.#open.get(exchange.request.socket);
    if (connection === undefined) return;
    const begun = deferred();
    connection.exchanges.set(exchange, { work: begun.promise, worked: false, written: false });
    this.#running.add(exchange);
    exchange.onSent((taken) => {
      if (!taken) exchange.abort(clientClosed());
      this.#progress(connection, exchange, 'written');
    });
    void work().then(() => {
      begun.resolve();
      if (exchange.upgraded) this.#progress(connection, exchange, 'written');
      this.#progress(connection, exchange, 'worked');
    });
  }

  /** Resolves when nothing runs any more, or after `ms`. */
  idle(ms: number): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#whenIdle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #progress(connection: ClientConnection, exchange: Exchange, step: 'worked' | 'written'): void {
    const progress = connection.exchanges.get(exchange);
    if (progress === undefined) return;
    progress[step] = true;
    if (!progress.worked) return;
    if (!progress.written) {
      // A WebSocket has its own clock.
      if (exchange.message !== undefined) return;
      // Node ends the socket then, and sets its own time-out when the answer is out.
      connection.socket.setTimeout(this.#stallMs);
      return;
    }
    this.#events.onDone(exchange);
    this.#remove(connection, exchange);
    if (connection.exchanges.size > 0 && exchange.message === undefined) connection.socket.setTimeout(0);
  }

  #remove(connection: ClientConnection, exchange: Exchange): void {
    connection.exchanges.delete(exchange);
    this.#running.delete(exchange);
    if (connection.exchanges.size === 0) this.#events.onIdle(connection);
    if (this.#running.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}

/** Answers to what never became a request: written to the socket, for there is no response to write to. */
const REQUEST_LINE = /^[A-Z]+ (\/[^\s?]*)/;

/** `packet`: what was being read, for the path in it. */
function rawAnswer(error: GatewayError, requestId: string, packet?: unknown): string {
  const head = packet instanceof Uint8Array ? Buffer.from(packet.subarray(0, 512)).toString('latin1') : '';
  const encodeError = errorShapeOf(REQUEST_LINE.exec(head)?.[1] ?? '', {});
  const body = JSON.stringify(encodeError(error, requestId));
  return [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `request-id: ${requestId}`,
    `x-request-id: ${requestId}`,
    'x-content-type-options: nosniff',
    '',
    body,
  ].join('\r\n');
}

/** Our side ends at once; what the client still sends is read for a while, so that it gets to see the answer. */
function endSocket(socket: Duplex, text: string, lingerMs: number): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(text);
  socket.resume();
}

/** Node's error with what it carries along. */
type ParserError = Error & { code?: string; rawPacket?: unknown };

export function onClientError(
  connection: ClientConnection,
  thrown: ParserError,
  requestId: string,
  lingerMs: number,
): void {
  const { exchanges, socket } = connection;
  if (connection.broken) return;
  connection.broken = true;
  // Reset by the client, or a connection that was opened in advance and never used.
  if (thrown.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
    socket.destroy();
    return;
  }
  const error = toError(thrown);
  for (const exchange of exchanges.keys()) {
    if (exchange.request.complete) continue;
    // It is the body of this request that broke; its answer says so, unless it is under way already.
    exchange.closeAfter = true;
    if (exchange.response.headersSent) socket.destroy();
    else exchange.abort(error);
    return;
  }
  connection.lastWords = rawAnswer(error, requestId, thrown.rawPacket);
  if (exchanges.size === 0) sayLastWords(connection, lingerMs);
}

/** Once everything that came before on the connection has been answered. */
export function sayLastWords({ socket, lastWords }: ClientConnection, lingerMs: number): void {
  if (lastWords !== undefined) endSocket(socket, lastWords, lingerMs);
}

/** The gateway is no proxy. */
export function refuseConnect(socket: Duplex, requestId: string, lingerMs: number): void {
  const error = new GatewayError('method_not_allowed', 'The gateway is not a proxy: CONNECT is refused.');
  endSocket(socket, rawAnswer(error, requestId), lingerMs);
}

function toError(thrown: ParserError): StopError {
  switch (thrown.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new StopError('request-broken', 'timeout', 'The request did not arrive in time. Send it again.');
    case 'HPE_HEADER_OVERFLOW':
      return new StopError(
        'request-broken',
        'invalid_request',
        'The headers are too large. Send fewer or shorter ones.',
        {
          status: 431,
        },
      );
    case 'HPE_INVALID_EOF_STATE':
      return new StopError(
        'request-broken',
        'invalid_request',
        'The request ended before it was whole. Send all of it.',
      );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new StopError('request-broken', 'too_large', 'The chunk extensions are too large. Send none.');
    default:
      return new StopError('request-broken', 'invalid_request', 'This is not a valid HTTP request.');
  }
}
