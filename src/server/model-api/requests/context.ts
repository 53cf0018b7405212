/** What the handlers of `/v1` work with. */
import type { AnswerMemory } from '../../../answers/answer-memory.js';
import type { Peers } from '../../../cluster/peers.js';
import type { JsonObject } from '../../../core/conversation.js';
import type { GatewayError } from '../../../core/errors.js';
import type { ServerSentEvent } from '../../../core/server-sent-event.js';
import type { KnownParts } from '../../../dialects/shared/known-parts.js';
import type { Dispatcher } from '../../../engines/engine.js';
import type { Log } from '../../../observability/log.js';
import type { Metrics } from '../../../observability/metrics.js';
import type { TraceSampler } from '../../../observability/trace-recorder.js';
import type { Exchange, SocketMessage } from '../../http/exchange.js';
import type { Limits } from '../../http/limits.js';
import type { OpenSockets } from '../../http/open-sockets.js';
import type { Handler } from '../../http/route-table.js';
import type { StreamClock } from '../../http/sse-writer.js';
import type { AnswerOnce } from '../memory/answer-once.js';
import type { LocalAnswers } from '../memory/local-answers.js';

/** Answers in the background. */
interface BackgroundAnswers {
  /** A run of this key that has not ended. */
  find(id: string, principal: string): Promise<BackgroundAnswer | undefined>;
  cancel(id: string): Promise<void>;
  /** Undefined where the key has as many runs as it may. */
  takeOver(dropped: DroppedAnswer): TakenOver | undefined;
  /** The other process that has this run of the key. */
  ownerOf(id: string, principal: string): Promise<string | undefined>;
}

/** An answer whose connection dropped before it ended. */
export interface DroppedAnswer {
  exchange: Exchange;
  /** The request as a POST would carry it. */
  body: Buffer;
  /** As the client has seen it. */
  response: JsonObject;
  /** An upstream keeps it, under its own id. */
  isForwarded: boolean;
  /** Resolves when its exchange is over. */
  over: Promise<void>;
}

/** Takes the rest of a dropped answer. */
export interface TakenOver {
  take(event: ServerSentEvent): void;
  fail(exchange: Exchange, error: GatewayError): void;
}

export interface BackgroundAnswer {
  readonly id: string;
  /** As of its last event. */
  readonly response: JsonObject;
  readonly streams: boolean;
  /** Whether the events after `after` are in memory. */
  holds(after: number): boolean;
  /** The text of the events after `after`, as they come. */
  read(after: number): AsyncIterable<Uint8Array>;
}

interface Owners {
  peers: Peers;
  /** The client has the answer of a turn that another node has made. */
  delivered(session: string, key: string): void;
}

export interface ModelApiContext {
  dispatcher: Dispatcher;
  /** Answers that may be asked for again. */
  answers: AnswerMemory;
  /** Answers requests that carry an `Idempotency-Key`. */
  once: AnswerOnce;
  /** Which requests are recorded whole; undefined where none are. */
  sampler: TraceSampler | undefined;
  limits: Limits;
  /** Parts of bodies that were parsed before. */
  known: KnownParts;
  clock: StreamClock;
  sockets: OpenSockets;
  /** Answers that only their own connection may refer to. */
  local: LocalAnswers;
  /**
   * Serves a message of the WebSocket that `opened` has opened as a request of its own, with the same
   * credentials. Resolves when it was answered; never rejects.
   */
  serveMessage(
    opened: Exchange,
    message: SocketMessage,
    work: (exchange: Exchange) => Promise<void>,
  ): Promise<void>;
  /** The other nodes, where there are some. */
  owners: Owners | undefined;
  isDraining(): boolean;
  background: BackgroundAnswers;
  /** Begins a run and answers with its state. */
  answerInBackground(exchange: Exchange, body: JsonObject): Promise<void>;
  metrics: Metrics;
  log: Log;
}

export type ModelApiHandler = Handler<ModelApiContext>;
