/** Something that answers one model call: an HTTP endpoint of some dialect, or the demo model. */
import type { ConversationRequest, DialectName, Effort, Usage } from '../core/conversation.js';
import type { GatewayError } from '../core/errors.js';
import type { ModelEvent } from '../core/events.js';
import type { Loss } from '../core/losses.js';
import type { WireHeaders } from '../dialects/shared/dialect.js';
import type { Affinity } from './pool/conversation-homes.js';

export interface Upstream {
  readonly name: string;
  /** What it speaks; undefined for what is embedded. */
  readonly dialect: DialectName | undefined;
  /** Where its models run, where the operator has said so. */
  readonly region?: string;
  /** Where it is, and whose it is by the names of OpenTelemetry; undefined for what is embedded. */
  readonly served?: { provider: string; host: string; port: number };
  /** Rejects with a GatewayError until the first real piece of the answer is there. */
  call(call: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Tokens of the request as this upstream would count them. */
  countTokens(call: UpstreamRequest): Promise<number>;
  /** What it offers, by its own account. */
  listModels?(signal: AbortSignal): Promise<readonly ListedModel[]>;
  /**
   * The byte lane: the client's own bytes in, the upstream's own bytes out. Decoded where the
   * upstream answered in another manner than it was asked. Rejects as `call` does.
   */
  forward?(call: ForwardRequest): Promise<ForwardedAnswer | UpstreamAnswer>;
  /** Any other request of the dialect, as it came: to an answer that the upstream keeps, or about a request. Rejects as `call` does. */
  ask?(call: SideRequest): Promise<ForwardedAnswer>;
  /** Any request, passed on as it came; answers with whatever the upstream says. Rejects where it says nothing. */
  pass?(call: PassRequest): Promise<ForwardedAnswer>;
  /** False when something of this model's requests must be changed on the way. */
  forwards?(model: string): boolean;
}

export interface UpstreamRequest {
  request: ConversationRequest;
  /** The model's name upstream. */
  model: string;
  /** The client's own headers, without credentials. */
  headers: WireHeaders;
  signal: AbortSignal;
  /** Efforts that the route allows, above what is known of the upstream. */
  efforts?: readonly Effort[];
  trace?: RequestTrace;
  /** Headers that name the gateway's own span, for telemetry. */
  propagated?: Readonly<Record<string, string>>;
  /** Which of several targets should answer. */
  affinity?: Affinity;
}

export interface UpstreamAnswer {
  /** Who answered, where it is one of several. */
  upstream?: string;
  losses: readonly Loss[];
  /** Tokens of the prompt, for an upstream that counts them only at the end. */
  promptTokens?: number;
  /** Takes the usage that the upstream reported at the end. */
  settle?(usage: Usage): void;
  /** One batch for each read; never throws, a failure is an `error` event. */
  batches: AsyncIterable<readonly ModelEvent[]>;
}

export interface ForwardRequest extends Omit<UpstreamRequest, 'request'> {
  /** The body, with the model's name already replaced. */
  body: Uint8Array;
  stream: boolean;
  /** It asks for what only this dialect has: several answers, or one that is made in the background. */
  verbatim?: boolean;
  /** What the body says, where tokens that the upstream does not count have to be estimated. */
  metered?: ConversationRequest;
}

export interface SideRequest extends Pick<UpstreamRequest, 'headers' | 'signal' | 'trace' | 'affinity'> {
  method: 'GET' | 'POST' | 'DELETE';
  /** Appended to the upstream's `base_url`. */
  path: string;
  /** Without its mark. */
  query?: string;
  body?: Uint8Array;
}

export interface PassRequest extends Pick<UpstreamRequest, 'headers' | 'signal' | 'trace' | 'affinity'> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Appended to the upstream's `base_url`. */
  path: string;
  /** Without its mark. */
  query?: string;
  contentType?: string;
  body?: Uint8Array;
}

export interface ForwardedAnswer {
  /** Who answered, where it is one of several. */
  upstream?: string;
  status: number;
  contentType: string;
  /** Throws GatewayError when the upstream breaks. */
  chunks: AsyncIterable<Uint8Array>;
  /** Of a stream: the text that ends what has been given out so far with an error. */
  failure?(error: GatewayError, requestId: string): string;
  /** What the upstream calls the answer. */
  id?: string;
  /** What the observer has read so far. */
  usage(): Partial<Usage> | undefined;
}

export interface ListedModel {
  id: string;
  displayName?: string;
  /** Unix seconds. */
  created?: number;
  contextWindow?: number;
}

/** Records what goes out and what comes in, as bytes; keeps references only. */
export interface RequestTrace {
  outbound(request: {
    upstream: string;
    dialect: DialectName;
    url: string;
    body: Uint8Array | string;
    /** Why this one of several. */
    reason?: string;
  }): void;
  upstreamHead(status: number, headers: WireHeaders): void;
  upstreamChunk(chunk: Uint8Array): void;
}
