/** A coding program of somebody else that `toolgate` can start on this gateway. */
import type { Environment } from '../../config/environment-references.js';
import type { Config } from '../../config/schema.js';
import { ModelRouter } from '../../routing/model-router.js';

export interface CodingClient {
  title: string;
  /** What it is called on the PATH, and the option that names another. */
  program: string;
  /** What to type to get it. */
  install: string;
  /** Where else it may be. */
  elsewhere?(env: Environment): Promise<string[]>;
  /** What it is started with. It leaves the person's own configuration of the program as it is. */
  prepare(setting: ClientSetting): Launch | Promise<Launch>;
}

export interface ClientSetting {
  /** Of the gateway, without a slash at its end. */
  url: string;
  /** What the gateway takes; anything where it has no keys. */
  credential: string;
  config: Config;
  /** The model that the person has named. */
  wanted: string | undefined;
  env: Environment;
  /** The gateway's models, the one to start with first. Rejects where there is none. */
  models(): Promise<readonly [OfferedModel, ...OfferedModel[]]>;
  /** A folder of its own, which is removed when the program has ended. */
  folder(): Promise<string>;
}

export interface OfferedModel {
  id: string;
  /** Tokens that fit into it, where they are known. */
  contextWindow: number | undefined;
}

export interface Launch {
  /** All of its environment. */
  env: NodeJS.ProcessEnv;
  /** Before the arguments of the person. */
  args: readonly string[];
}

/** Which entry of the configuration a name leads to. */
export function routerOf(models: Config['models']): ModelRouter {
  const rule = { engine: 'relay', upstreams: [] } as const;
  return new ModelRouter(Object.fromEntries(Object.keys(models).map((name) => [name, rule])));
}

/** By which a program finds the credential: it stands in no file and in no list of processes. */
export const KEY_VARIABLE = 'TOOLGATE_CLIENT_KEY';

/** What a program is told of a model whose size nobody has configured. */
export const USUAL_WINDOW = 128_000;
