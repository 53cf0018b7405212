/** What the server asks of the engines: a call by model name, whoever answers it. */
import type { Answer, Call } from './engine.js';

export interface Dispatcher {
  /** Rejects with `not_found` where no route matches the model, `forbidden` where the key may not call it. */
  run(call: Call): Promise<Answer>;
  /** Tokens of the request as the routed model would count them. */
  countTokens(call: Call): Promise<number>;
  /** What `GET /v1/models` lists: configured names, and what the upstream behind a glob lists itself. */
  models(): Promise<readonly ModelInfo[]>;
}

export interface ModelInfo {
  id: string;
  displayName: string;
  /** Unix seconds. */
  created: number;
  ownedBy: string;
  contextWindow?: number;
}
