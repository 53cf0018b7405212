/**
 * The configuration that holds now, and what is made of it: replaced as a whole when the file is loaded again.
 * Who asks once keeps what it got.
 */
import type { LoadedConfig } from '../config/load.js';
import { createCleanCheck, createRedactor } from '../config/redact.js';
import type { Config } from '../config/schema.js';
import { createModelCatalogue, type ModelCatalogue } from '../engines/model-catalogue.js';
import type { FindWorkspace } from '../server/access/find-workspace.js';
import { type About, aboutGateway } from '../server/console-api/context.js';
import type { ListPrices } from '../upstreams/list-prices.js';
import { createFindWorkspace } from './find-workspace.js';

interface Parts {
  models: ModelCatalogue;
  findWorkspace: FindWorkspace;
}

export class LiveConfig {
  #loaded: LoadedConfig;
  #parts: Parts;
  #redact: (text: string) => string;
  #isClean: (utf8: Uint8Array) => boolean;
  #secrets: readonly string[];

  /** In the place of those that this version was made with. */
  readonly listPrices: ListPrices | undefined;

  /** `secrets`: further ones, which stand in no file. */
  constructor(loaded: LoadedConfig, secrets: readonly string[] = [], listPrices?: ListPrices) {
    this.listPrices = listPrices;
    this.#loaded = loaded;
    this.#secrets = [...loaded.secrets, ...secrets];
    this.#parts = partsOf(loaded, listPrices);
    this.#redact = createRedactor(this.#secrets);
    this.#isClean = createCleanCheck(this.#secrets);
  }

  get loaded(): LoadedConfig {
    return this.#loaded;
  }

  get config(): Config {
    return this.#loaded.config;
  }

  /** Secrets of before are still redacted: requests that began with them go on. */
  use(loaded: LoadedConfig): void {
    this.#loaded = loaded;
    this.#secrets = [...new Set([...this.#secrets, ...loaded.secrets])];
    this.#parts = partsOf(loaded, this.listPrices);
    this.#redact = createRedactor(this.#secrets);
    this.#isClean = createCleanCheck(this.#secrets);
  }

  readonly redact = (text: string): string => this.#redact(text);
  readonly isClean = (utf8: Uint8Array): boolean => this.#isClean(utf8);

  readonly models: ModelCatalogue = {
    find: (model, principal) => this.#parts.models.find(model, principal),
    offered: (principal, listed) => this.#parts.models.offered(principal, listed),
  };

  readonly findWorkspace: FindWorkspace = (model, principal, use) =>
    this.#parts.findWorkspace(model, principal, use);

  /** The operator's rules and mode. */
  get permissions(): Pick<Config['permissions'], 'mode' | 'allow' | 'ask' | 'deny'> {
    const current = () => this.config.permissions;
    return {
      get mode() {
        return current().mode;
      },
      get allow() {
        return current().allow;
      },
      get ask() {
        return current().ask;
      },
      get deny() {
        return current().deny;
      },
    };
  }

  about(fixed: Pick<About, 'version' | 'sandbox'>): About {
    const current = () => aboutGateway(this.#loaded, fixed);
    return {
      ...current(),
      get upstreams() {
        return current().upstreams;
      },
      get models() {
        return current().models;
      },
      get agents() {
        return current().agents;
      },
    };
  }
}

function partsOf(
  { config: { models, upstreams }, baseDir }: LoadedConfig,
  listPrices: ListPrices | undefined,
): Parts {
  const folders = { models, baseDir, startDir: process.cwd() };
  return {
    models: createModelCatalogue({ ...folders, upstreams, listPrices }),
    findWorkspace: createFindWorkspace(folders),
  };
}
