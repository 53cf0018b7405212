/**
 * An engine answers one turn. `run` rejects with a GatewayError while the status can still be
 * chosen (before the first chunk); later failures are `error` events, so batches never throw.
 */
import type { AgentObserver } from '../activity/activity.js';
import type { ConversationRequest, Usage } from '../core/conversation.js';
import type { GatewayError } from '../core/errors.js';
import type { ModelEvent } from '../core/events.js';
import type { Loss } from '../core/losses.js';
import type { Price } from '../core/price.js';
import type { Span } from '../core/span.js';
import type { Dialect, WireHeaders } from '../dialects/shared/dialect.js';
import type { ModelRoute } from '../routing/model-router.js';
import type { AttachRequest } from '../sessions/sessions.js';
import type { ForwardedAnswer, PassRequest, RequestTrace, SideRequest } from '../upstreams/upstream.js';

export interface Engine {
  run(call: ModelRequest, route: ModelRoute): Promise<Answer>;
}

/** One that counts the tokens of a request as its model does. */
export interface CountingEngine extends Engine {
  countTokens(call: ModelRequest, route: ModelRoute): Promise<number>;
}

/** One request of a client, on its way to an engine. */
export interface ModelRequest {
  /** The request id, also the trace's. */
  id: string;
  clientDialect: Dialect;
  request: ConversationRequest;
  /** The body as it came, for the byte lane. An engine drops it as soon as it is sent. */
  raw: Uint8Array;
  headers: WireHeaders;
  /** `Idempotency-Key`: who repeats it means the same request. */
  idempotencyKey?: string;
  /** Another node has sent it before, and does not know what became of it. */
  again?: boolean;
  principal: Principal;
  /** Fires when the client is gone or the gateway stops: everything ends at once. */
  signal: AbortSignal;
  /** What it uses counts against a limit of its key: figures that the upstream does not give are estimated. */
  metered?: boolean;
  /** Where this call is one of those that are recorded. */
  trace?: RequestTrace;
  /** Where the gateway's own telemetry is collected: what this call is a part of. */
  span?: Span;
  /** Of the turn of an agent that makes the call: the spans of its tool calls and sub-agents. */
  turnSpans?: TurnSpans;
  /** A turn of the gateway's own keeping, which no connection waits for. */
  kept?: KeptConversation;
  /** Called with what an agent does on the way to its answer. */
  observe?: AgentObserver;
  /** Called with headers of the answer that are known before its first piece: the head may have to go out without it. */
  announce?: (headers: Readonly<Record<string, string>>) => void;
}

/** The parts of a turn by their ids. Each is there from the first time that somebody asks for it. */
export interface TurnSpans {
  ofAgent(id: string): Span;
  /** `name` of the tool; `agent`: the sub-agent that calls it. */
  ofToolCall(id: string, name: string, agent?: string): Span;
}

/** Its conversation is a session, also with a plain model, and stays where the turn fails. */
interface KeptConversation {
  /** The folder that was chosen for an agent, a real path; without it, the one of the model. */
  root?: string;
  /** The session that the conversation was taken from. */
  parent?: string;
  /** Of a session that is made for it. */
  mode?: NonNullable<AttachRequest['mode']>;
}

export type Scope = 'call' | 'approve' | 'admin';

export interface Principal {
  /** Names the key in logs, sessions and usage; `local` without keys. */
  name: string;
  /** Who the key belongs to, for the log. */
  team?: string;
  scopes: readonly Scope[];
  /** Names and globs of the models that it may call. */
  models: readonly string[];
  /** Folders, absolute, that agents may work in for it; left out: all. */
  workspaces?: readonly string[];
  /** Largest body of a request, below that of the server. */
  bodyLimitMb?: number;
  /** Of the process of an agent: its model calls are answered by this, whatever model they name. */
  bound?: BoundModel;
}

/** The model calls of one conversation with an agent that runs in a process of its own. */
export interface BoundModel {
  readonly session: string;
  /** What a call of the process is a part of, by its headers. */
  spanOf?(headers: WireHeaders): Span | undefined;
  /** As an engine's, for a route that is fixed. */
  run(call: ModelRequest): Promise<Answer>;
  countTokens(call: ModelRequest): Promise<number>;
}

export interface Answer {
  /** Who answered, for `x-toolgate-upstream`. */
  upstream: string;
  losses: readonly Loss[];
  /** Further headers, lower case (`x-session-id` …). */
  headers: Readonly<Record<string, string>>;
  /** Tokens of the prompt, where the upstream will count them only at the end. */
  promptTokens?: number;
  /** Of the model that was asked for, where it is known. */
  price?: Price;
  /** How long the turn has waited for people so far, in milliseconds. */
  waitedMs?(): number;
  /** Takes the final usage of an answer that was streamed as events. */
  settle?(usage: Usage): void;
  /** Of a turn of a session. */
  delivery?: Delivery;
  body: AnswerBody;
}

/** Until it is confirmed, the same request gets the same answer. Exactly one of the two is called, once all of it is sent. */
export interface Delivery {
  /** Of the turn in its session. */
  key: string;
  /** The client has it. */
  confirm(): void;
  /** Another node has it for the client, and confirms it. */
  passOn(): void;
}

export type AnswerBody =
  /** One batch for each upstream read. Returning early (`return()`) cancels the upstream. */
  | { kind: 'events'; batches: AsyncIterable<readonly ModelEvent[]> }
  /** The byte lane: the client's own dialect, forwarded as it is. The iterator throws when the upstream breaks. */
  | {
      kind: 'bytes';
      status: number;
      contentType: string;
      chunks: AsyncIterable<Uint8Array>;
      /** What the upstream calls the answer. */
      id?: string;
      /** Of a stream: the text that ends what has been given out so far with an error; empty where it is whole. */
      failure?(error: GatewayError, requestId: string): string;
      /** What was read of the figures so far, for metrics. */
      usage(): Partial<Usage> | undefined;
    };

/** The engines as the server sees them: a request by model name, whichever engine answers it. */
export interface Dispatcher {
  /** Rejects with `not_found` where no route matches the model, `forbidden` where the key may not call it. */
  run(call: ModelRequest): Promise<Answer>;
  /** Tokens of the request as the routed model would count them. */
  countTokens(call: ModelRequest): Promise<number>;
  /** Another request about the same body; undefined where the routed model's upstream does not speak the client's dialect. */
  ask?(call: ModelRequest, path: SidePath): Promise<SideAnswer | undefined>;
  /** A request to an answer that this upstream keeps; undefined where there is no such upstream any more. */
  askKeeper?(upstream: string, call: SideRequest): Promise<SideAnswer | undefined>;
  /** A request of another route that names a model, in its own bytes. Rejects as `run` does, and where an agent answers the model. */
  pass?(call: ModelPass): Promise<Answer>;
  /** The upstreams of a wire whose other routes the operator has opened. */
  passers?(wire: Wire): readonly string[];
  /** A request to one of them. */
  passTo?(upstream: string, call: AccountPass): Promise<Answer>;
  /** What `GET /v1/models` lists: configured names, and what the upstream behind a glob lists itself. */
  models(): Promise<readonly ModelInfo[]>;
}

/** Requests about a body besides a turn. */
export type SidePath = '/responses/input_tokens' | '/responses/compact';

/** Whose routes: both dialects of OpenAI have the same beside their turns. */
export type Wire = 'openai' | 'anthropic';

/** Something other than a turn, on its way to an upstream as it came. */
export interface AccountPass extends PassRequest {
  principal: Principal;
}

export interface ModelPass extends Omit<AccountPass, 'body'> {
  model: string;
  /** The body with the name by which the upstream knows the model. */
  bodyFor(model: string): Uint8Array;
  /** A guess of the tokens, where an answer must be counted and has no figures. */
  estimate: number;
}

/** What an upstream said to something other than a turn. */
export interface SideAnswer extends ForwardedAnswer {
  upstream: string;
  /** Of the model that was asked for, where it is known. */
  price?: Price;
}

export interface ModelInfo {
  id: string;
  displayName: string;
  /** Unix seconds. */
  created: number;
  ownedBy: string;
  contextWindow?: number;
}
