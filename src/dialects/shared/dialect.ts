/**
 * What a dialect is: one wire format, both directions, pure. `decode*` is wire to neutral,
 * `encode*` is neutral to wire. As ingress the gateway speaks it to a client, as egress to an
 * upstream. Every dialect folder has the same files; index.ts assembles them into this shape.
 */
import type {
  AssistantMessage,
  ConversationRequest,
  DialectName,
  JsonObject,
} from '../../core/conversation.js';
import type { GatewayError } from '../../core/errors.js';
import type { AnswerEvent, ModelEvent } from '../../core/events.js';
import type { LossLog } from '../../core/losses.js';
import type { ServerSentEvent } from '../../core/server-sent-event.js';
import type { Quirks } from './quirks.js';
import type { ToolNames } from './tool-names.js';

export interface Dialect {
  readonly name: DialectName;
  readonly ingress: Ingress;
  readonly egress: Egress;
}

/** The side towards a client. */
export interface Ingress {
  /** Fields of a body whose elements clients send again with every turn (`shared/known-parts.ts`). */
  readonly lists: ReadonlySet<string>;
  /** Throws GatewayError `invalid_request` with the path of the first field that is wrong. Unknown keys pass. */
  decodeRequest(body: unknown): ConversationRequest;
  /** The whole answer. What `answer` holds and this dialect cannot carry goes to `losses`. */
  encodeResponse(answer: AssistantMessage, context: AnswerContext, losses: LossLog): JsonObject;
  /** Must not keep a reference to `request`: streams live long, bodies should not. */
  createStreamEncoder(request: ConversationRequest, answer: AnswerContext): StreamEncoder;
  encodeError(error: GatewayError, requestId: string): JsonObject;
  /** The client finds this error only in a stream that begins and fails, not in a status. */
  failsInAnswer?(error: GatewayError, headers: WireHeaders): boolean;
  /** What the form of a whole answer depends on, so that the request need not be kept for it. */
  answerForm?(request: ConversationRequest): JsonObject | undefined;
}

/** Facts of one answer that the wire wants and the events do not hold. */
export interface AnswerContext {
  /** The name that the client asked for: answers carry it, not the upstream's. */
  model: string;
  requestId: string;
  /** Unix seconds. */
  created: number;
  /** What `answerForm` said of the request. */
  form?: JsonObject;
}

/** Never throws: the lifecycle has made the events valid. */
export interface StreamEncoder {
  /** The SSE text of a batch; empty when there is nothing to say yet. */
  encode(events: readonly AnswerEvent[]): string;
}

/** The side towards an upstream. */
interface Egress {
  encodeRequest(request: ConversationRequest, target: Target): EncodedRequest;
  /** A 2xx body. Never throws: what it cannot read becomes an `error` event. */
  decodeResponse(body: unknown, names: ToolNames): ModelEvent[];
  createStreamDecoder(names: ToolNames): StreamDecoder;
  /** `body` is the parsed JSON, or the text where it was not JSON. */
  decodeError(status: number, headers: WireHeaders, body: unknown): GatewayError;
}

export type WireHeaders = Readonly<Record<string, string | undefined>>;

export interface Target {
  /** The upstream's own model name. */
  model: string;
  quirks: Quirks;
  losses: LossLog;
}

export interface EncodedRequest {
  /** Appended to the upstream's `base_url`. */
  path: string;
  /** Beyond content-type and credentials. */
  headers: Record<string, string>;
  body: JsonObject;
  /** Needed to decode the answer. */
  names: ToolNames;
}

/** An explicit state machine; never throws for bad data, it emits an `error` event. */
export interface StreamDecoder {
  /** The wire's own terminal event has come (`[DONE]`, `message_stop`, `response.completed` …). */
  readonly done: boolean;
  /** Appends to `out`. */
  push(event: ServerSentEvent, out: ModelEvent[]): void;
  /** The upstream closed the connection. A premature end appends an `error`. */
  end(out: ModelEvent[]): void;
}
