/** The engines as the server sees them: a request by model name, whichever engine answers it. */
import type { ForwardedAnswer, SideRequest } from '../upstreams/upstream.js';
import type { Answer, ModelRequest } from './engine.js';

export interface Dispatcher {
  /** Rejects with `not_found` where no route matches the model, `forbidden` where the key may not call it. */
  run(call: ModelRequest): Promise<Answer>;
  /** Tokens of the request as the routed model would count them. */
  countTokens(call: ModelRequest): Promise<number>;
  /** Another request about the same body; undefined where the routed model's upstream does not speak the client's wire. */
  ask?(call: ModelRequest, path: string): Promise<SideAnswer | undefined>;
  /** A request to an answer that this upstream keeps; undefined where there is no such upstream any more. */
  askKeeper?(upstream: string, call: SideRequest): Promise<SideAnswer | undefined>;
  /** What `GET /v1/models` lists: configured names, and what the upstream behind a glob lists itself. */
  models(): Promise<readonly ModelInfo[]>;
}

/** What an upstream said to something other than a turn. */
export interface SideAnswer extends ForwardedAnswer {
  upstream: string;
}

export interface ModelInfo {
  id: string;
  displayName: string;
  /** Unix seconds. */
  created: number;
  ownedBy: string;
  contextWindow?: number;
}
