/** One request and its answer, from the first byte to the log line. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { JsonObject, Usage } from '../../core/conversation.js';
import type { GatewayError } from '../../core/errors.js';
import type { Loss } from '../../core/losses.js';
import type { Price } from '../../core/price.js';
import type { Span } from '../../core/span.js';
import { causeOf, StopError } from '../../core/stopping.js';
import type { Principal } from '../../engines/engine.js';
import type { TraceRecorder } from '../../observability/trace-recorder.js';
import type { Forwarded } from './forwarding.js';
import { SseWriter, type StreamWriter } from './sse-writer.js';

/** An error in the shape that the client's own library reads. */
export type EncodeError = (error: GatewayError, requestId: string) => JsonObject;

/** What becomes known on the way, for the log line, the metrics and the usage row. */
export interface Facts {
  /** The pattern of the route that matched. */
  route: string;
  model?: string;
  stream?: boolean;
  upstream?: string;
  /**
   * `performance.now()` of the first thing that the model said in a stream; of its first bytes where
   * they are passed on unread.
   */
  firstTokenAt?: number;
  usage?: Usage;
  price?: Price;
  session?: string;
  /** How long it has waited for people so far. */
  waitedMs?: () => number;
  stopReason?: string;
  losses: readonly Loss[];
  repairs: ReadonlyMap<string, number>;
  error?: GatewayError;
}

/** A request that came as a message of a WebSocket, and not as one of HTTP. Its answer goes there too. */
export interface SocketMessage {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Begins an answer that is streamed; `headers` are those of its head over HTTP. */
  stream(exchange: Exchange, headers: OutgoingHttpHeaders): StreamWriter;
  /** Answers with an error. */
  fail(exchange: Exchange, error: GatewayError): void;
  /** As `Exchange.onSent`. */
  onSent(listener: (taken: boolean) => void): void;
}

/** Until someone is admitted. */
const NOBODY: Principal = { name: '', scopes: [], models: [] };
const NO_REPAIRS: ReadonlyMap<string, number> = new Map();

interface ExchangeOptions {
  id: string;
  request: IncomingMessage;
  response: ServerResponse;
  path: string;
  query: string;
  encodeError: EncodeError;
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
  /** Where it came as one: `request` is the one that opened the WebSocket, `response` goes nowhere. */
  message?: SocketMessage;
  /** Where the client asks for a WebSocket: what it has sent behind its request. */
  upgrade?: Buffer;
}

export class Exchange {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly message: SocketMessage | undefined;
  readonly upgrade: Buffer | undefined;
  /** Without the query, as it came. */
  readonly path: string;
  readonly query: string;
  readonly startedAt = performance.now();
  readonly facts: Facts = { route: 'unmatched', losses: [], repairs: NO_REPAIRS };
  encodeError: EncodeError;
  awaitsContinue: boolean;
  principal: Principal = NOBODY;
  /** A usage row and a trace are kept of it. */
  traced = false;
  /** Where the whole of it is recorded. */
  recorder: TraceRecorder | undefined;
  /** Where the gateway's own telemetry is collected. */
  span: Span | undefined;
  /** Headers of the answer that an engine announced ahead of it. */
  announced: Readonly<Record<string, string>> = {};
  /** Where another node has forwarded it: whom it is of, and that it came this way. */
  forwarded: Forwarded | undefined;
  /** The answer says `connection: close`. */
  closeAfter = false;
  /** It waits for news and for no answer, so that it ends with its key. */
  listens = false;
  /** The connection is a WebSocket from now on: there is no response to wait for. */
  upgraded = false;
  /** Asked when the client is gone: true where the work goes on without it. */
  outlivesClient: () => boolean = () => false;
  /** Told the conversation that the request is a turn of, as soon as it is known. */
  onSession: (session: string) => void = () => {};
  readonly #abort = new AbortController();
  readonly #waiting = new Set<(error: GatewayError) => void>();
  #failure: StopError | undefined;

  constructor(options: ExchangeOptions) {
    this.id = options.id;
    this.request = options.request;
    this.response = options.response;
    this.message = options.message;
    this.upgrade = options.upgrade;
    this.path = options.path;
    this.query = options.query;
    this.encodeError = options.encodeError;
    this.awaitsContinue = options.awaitsContinue;
  }

  get method(): string {
    return this.message === undefined ? (this.request.method ?? '') : 'POST';
  }

  get headers(): IncomingHttpHeaders {
    return this.message?.headers ?? this.request.headers;
  }

  /** Begins an answer that is streamed. */
  stream(status: number, headers: OutgoingHttpHeaders): StreamWriter {
    return this.message?.stream(this, headers) ?? new SseWriter(this.response, status, headers);
  }

  /** Calls `listener` once, when the whole answer was handed to the connection; `taken` is false where the client was gone. */
  onSent(listener: (taken: boolean) => void): void {
    if (this.message !== undefined) {
      this.message.onSent(listener);
      return;
    }
    const { response, request } = this;
    // A response whose client leaves also finishes, and drops the unsent rest.
    response.once('finish', () => listener(!request.socket.destroyed));
  }

  /** Fires when the client is gone or the gateway stops. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why the work was ended from outside; undefined while it goes on. */
  get failure(): StopError | undefined {
    return this.#failure;
  }

  get clientGone(): boolean {
    return causeOf(this.#failure) === 'client-gone';
  }

  /** Ends the work at once, whatever it waits for. The first reason stays. */
  abort(reason: StopError): void {
    if (this.#failure !== undefined) return;
    this.#failure = reason;
    this.#abort.abort(reason);
    for (const reject of this.#waiting) reject(reason);
    this.#waiting.clear();
  }

  /**
   * `work`, or the rejection of `abort`, whichever comes first: an engine that is slow to notice
   * the signal does not keep the exchange.
   */
  untilAborted<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        work.catch(() => {});
        reject(this.#failure);
        return;
      }
      this.#waiting.add(reject);
      const settle = <V>(done: (value: V) => void) => {
        return (value: V) => {
          this.#waiting.delete(reject);
          done(value);
        };
      };
      work.then(settle(resolve), settle(reject));
    });
  }
}

export function clientClosed(): StopError {
  return new StopError(
    'client-gone',
    'client_closed',
    'The client closed the connection before the answer was whole.',
  );
}
