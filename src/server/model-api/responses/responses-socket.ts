/**
 * `/v1/responses` over a WebSocket: each message is a request as a POST would bring it, and its answer is
 * the stream that the POST would have had, one event a message. A lane (`stream_id`) answers its requests
 * in order; lanes run beside each other.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import { encodeSilence, openaiResponses } from '../../../dialects/openai-responses/index.js';
import type { Exchange } from '../../http/exchange.js';
import { parseJsonBody } from '../../http/json-body.js';
import { bodyLimitOf, tooLarge } from '../../http/read-request.js';
import { baseHeaders, sendError } from '../../http/respond.js';
import { acceptWebSocket, CLOSE, MessageSocket } from '../../http/web-socket.js';
import { ConnectionAnswers, LaneRequest } from '../memory/local-answers.js';
import type { ModelApiContext, ModelApiHandler } from '../requests/context.js';
import { modelHandler } from '../requests/endpoint.js';
import { LaneReply } from './lane-reply.js';

/** Those of the API itself. */
const LIMITS = {
  /** Answers at once; further requests wait. */
  running: 16,
  /** Lanes with a name. */
  lanes: 32,
  /** Requests that wait; beyond, nothing is read. */
  waiting: 64,
} as const;

const STREAM_ID = /^[A-Za-z0-9_.-]{1,256}$/;
/** The lane of requests without a name. */
const UNNAMED = '';

/** What is about the handshake, or about one request of HTTP. */
const OF_HANDSHAKE =
  /^(?:sec-websocket-|content-|idempotency-key$|x-stainless-retry-count$|x-toolgate-events$)/;

export const openResponsesSocket: ModelApiHandler = async (exchange, context) => {
  const { limits, sockets } = context;
  if (exchange.upgrade === undefined) {
    const error = new GatewayError(
      'method_not_allowed',
      '/v1/responses takes a POST, or a WebSocket. Send one of them.',
      { status: 426 },
    );
    exchange.facts.error = error;
    sendError(exchange, error, limits.lingerMs, { allow: 'POST', upgrade: 'websocket' });
    return;
  }
  sockets.checkRoom(exchange.principal.name);
  const webSocket = await acceptWebSocket(exchange, baseHeaders(exchange), limits);
  new ResponsesSocket(exchange, context, webSocket);
};

/** A message that was read. */
interface Received {
  lane: string;
  bytes: number;
  /** What a POST would carry. */
  body: JsonObject;
  /** False: only what is asked next begins with it. */
  generate: boolean;
}

class ResponsesSocket {
  readonly opened: Exchange;
  readonly #context: ModelApiContext;
  readonly #socket: MessageSocket;
  readonly #headers: IncomingHttpHeaders;
  readonly #answers: ConnectionAnswers;
  readonly #lanes = new Set<string>();
  /** Lanes with an answer under way. */
  readonly #busy = new Set<string>();
  /** Exchanges under way, refused messages included. */
  #running = 0;
  #waiting: Received[] = [];
  #waitingBytes = 0;
  readonly #expiry: NodeJS.Timeout;
  /** Why nothing new begins. */
  #ending: 'drain' | 'expired' | undefined;

  constructor(
    opened: Exchange,
    context: ModelApiContext,
    webSocket: Awaited<ReturnType<typeof acceptWebSocket>>,
  ) {
    const { clock, limits, sockets } = context;
    this.opened = opened;
    this.#context = context;
    this.#headers = requestHeaders(opened.request.headers);
    this.#answers = new ConnectionAnswers(context.local);
    this.#socket = new MessageSocket(webSocket, opened.request.socket, {
      clock,
      limits,
      onMessage: (data, isBinary) => this.#take(data, isBinary),
      onClose: () => this.#close(),
    });
    this.#expiry = setTimeout(() => this.#expire(), limits.socketMs).unref();
    sockets.add(this, opened.principal.name);
    if (context.isDraining()) this.drain();
  }

  drain(): void {
    this.#ending = 'drain';
    this.#next();
    this.#endIfIdle();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #close(): void {
    clearTimeout(this.#expiry);
    this.#context.sockets.delete(this);
    this.#answers.close();
    this.#waiting = [];
  }

  #expire(): void {
    this.#ending ??= 'expired';
    if (this.#running > 0) return;
    this.#refuse(UNNAMED, expired());
  }

  #take(data: Buffer, isBinary: boolean): void {
    let lane = UNNAMED;
    try {
      const message = readMessage(data, isBinary, this.#context.limits.jsonDepth);
      lane = laneIn(message);
      this.#admitLane(lane);
      const received = readRequest(message, lane, data.length);
      if (received === undefined) return;
      this.#waiting.push(received);
      this.#waitingBytes += received.bytes;
    } catch (error) {
      this.#refuse(lane, error);
    }
    this.#next();
  }

  #admitLane(lane: string): void {
    if (lane === UNNAMED || this.#lanes.has(lane)) return;
    if (this.#lanes.size >= LIMITS.lanes) {
      throw new GatewayError(
        'invalid_request',
        `This WebSocket connection has reached its maximum number of distinct stream IDs (${LIMITS.lanes}). Reuse an existing stream_id or open a new WebSocket connection.`,
        { param: 'stream_id', detail: 'websocket_stream_limit_reached' },
      );
    }
    this.#lanes.add(lane);
  }

  /** Begins what can begin. A gateway that stops refuses it, so then nothing waits. */
  #next(): void {
    for (const received of [...this.#waiting]) {
      const isFree = !this.#busy.has(received.lane) && this.#running < LIMITS.running;
      if (!isFree && this.#ending !== 'drain') continue;
      this.#waiting = this.#waiting.filter((each) => each !== received);
      this.#waitingBytes -= received.bytes;
      if (this.#ending === 'expired') this.#refuse(received.lane, expired());
      else this.#answer(received);
    }
    const { bodyBytes } = this.#context.limits;
    this.#socket.hold(this.#waiting.length >= LIMITS.waiting || this.#waitingBytes >= bodyBytes);
  }

  #answer({ lane, body, generate }: Received): void {
    const request = new LaneRequest(body, lane, this.opened.principal.name, this.#answers);
    const limit = bodyLimitOf(this.opened.principal, this.#context.limits.bodyBytes);
    if (request.body.length > limit.bytes) {
      this.#refuse(lane, tooLarge(limit, ' with what it goes on from'));
      return;
    }
    this.#busy.add(lane);
    const onEnd = (response: unknown) => request.ended(response);
    const reply = this.#replyOn(lane, request.body, onEnd);
    const answered = this.#serve(reply, async (exchange) => {
      exchange.outlivesClient = () => this.#goesOn(exchange, request, reply, answered);
      if (generate) await modelHandler(openaiResponses, request.memory)(exchange, this.#context, {});
      else warmUp(exchange, request, this.#context);
    });
    void answered.then(() => {
      this.#busy.delete(lane);
      this.#settle();
    });
  }

  /** A message that is no request is one for the log, the metrics and the rate all the same. */
  #refuse(lane: string, error: unknown): void {
    const refused = this.#serve(
      this.#replyOn(lane, NO_BYTES, () => {}),
      () => Promise.reject(error),
    );
    void refused.then(() => this.#settle());
  }

  /**
   * The connection is gone: an answer that is to be stored goes on in the background, once its client knows its
   * id. Not that of an agent, whose turn goes on with the same request, sent again.
   */
  #goesOn(exchange: Exchange, request: LaneRequest, reply: LaneReply, over: Promise<void>): boolean {
    const { begun } = reply;
    const { session, upstream } = exchange.facts;
    const isRelayed = upstream !== undefined && session === undefined;
    if (begun === undefined || !request.isStored || !isRelayed) return false;
    // Who does not read does not want it, and a gateway that stops makes nothing any more.
    if (this.#socket.isGivenUp || this.#context.isDraining()) return false;
    const isForwarded = request.forwarded !== undefined;
    const dropped = { exchange, body: request.body, response: begun, isForwarded, over };
    const taker = this.#context.background.takeOver(dropped);
    if (taker === undefined) return false;
    request.keptAnyway();
    reply.giveTo(taker);
    return true;
  }

  #replyOn(lane: string, body: Buffer, onEnd: (response: unknown) => void): LaneReply {
    const streamId = lane === UNNAMED ? undefined : lane;
    return new LaneReply({ socket: this.#socket, headers: this.#headers, body, streamId, onEnd });
  }

  async #serve(message: LaneReply, work: (exchange: Exchange) => Promise<void>): Promise<void> {
    this.#running += 1;
    await this.#context.serveMessage(this.opened, message, work);
    this.#running -= 1;
  }

  #settle(): void {
    this.#next();
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#ending === undefined || this.#running > 0) return;
    if (this.#ending === 'drain') this.#socket.close(CLOSE.restart, 'Open a new connection to go on.');
    else this.#socket.close(CLOSE.done, 'Open a new connection to go on.');
  }
}

const NO_BYTES = Buffer.alloc(0);

function readMessage(data: Buffer, isBinary: boolean, maxDepth: number): JsonObject {
  if (isBinary) throw new GatewayError('invalid_request', 'A message is binary. Send JSON as text.');
  const message = parseJsonBody(data, maxDepth);
  if (isObject(message)) return message;
  throw new GatewayError(
    'invalid_request',
    'A message is no JSON object. Send {"type":"response.create", …}.',
  );
}

function laneIn({ stream_id: id }: JsonObject): string {
  if (id === undefined || id === null) return UNNAMED;
  if (typeof id === 'string' && STREAM_ID.test(id)) return id;
  throw new GatewayError(
    'invalid_request',
    "The 'stream_id' field must be a non-empty string with at most 256 characters and may only contain letters, numbers, underscores, hyphens, and periods.",
    { param: 'stream_id', detail: 'invalid_stream_id' },
  );
}

/** Undefined for what needs no answer. */
function readRequest(message: JsonObject, lane: string, bytes: number): Received | undefined {
  const { type, stream_id: _lane, generate, stream: _always, background, ...body } = message;
  // Codex says so of an answer that it has read.
  if (type === 'response.processed') return undefined;
  if (type !== 'response.create') {
    throw new GatewayError('invalid_request', 'type: expected "response.create".', { param: 'type' });
  }
  if (background === true) {
    throw new GatewayError(
      'invalid_request',
      'background: a WebSocket has no answers in the background. Send a POST for it.',
      { param: 'background' },
    );
  }
  return { lane, bytes, body, generate: generate !== false };
}

/** An answer without words, so that the next request sends only what is new. Nobody is asked. */
function warmUp(exchange: Exchange, lane: LaneRequest, { limits }: ModelApiContext): void {
  const body = parseJsonBody(lane.body, limits.jsonDepth);
  const request = openaiResponses.ingress.decodeRequest(body);
  exchange.facts.model = request.model.slice(0, 200);
  const id = exchange.id.replace(/^req_/, 'resp_');
  const created = Math.floor(Date.now() / 1000);
  const answer = { model: request.model, requestId: exchange.id, created };
  lane.keep(id, []);
  const writer = exchange.stream(200, baseHeaders(exchange));
  writer.write(encodeSilence(request, answer, id));
  writer.end();
}

function requestHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_HANDSHAKE.test(name)));
}

function expired(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.',
    { detail: 'websocket_connection_limit_reached' },
  );
}
