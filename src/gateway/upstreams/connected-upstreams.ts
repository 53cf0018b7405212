/** Upstreams that were connected at run time: from the store into the configuration that holds. */
import { withConnected } from '../../config/connected-upstreams.js';
import type { Environment } from '../../config/environment-references.js';
import type { LoadedConfig } from '../../config/load.js';
import type { ConnectedStates } from '../../server/console-api/upstream-administration.js';
import { sealContext } from '../../server/console-api/upstream-administration.js';
import type { StoredUpstream, UpstreamStore } from '../../store/upstreams.js';
import { SECRET_KEY_VARIABLE, type SecretBox } from './secret-box.js';

interface ConnectedUpstreamsOptions {
  store: Pick<UpstreamStore, 'list'>;
  box: SecretBox;
  env: Environment;
}

export class ConnectedUpstreams implements ConnectedStates {
  readonly #options: ConnectedUpstreamsOptions;
  /** What the file or the environment says alone. */
  #base: LoadedConfig;
  #problems: ReadonlyMap<string, string> = new Map();

  constructor(base: LoadedConfig, options: ConnectedUpstreamsOptions) {
    this.#base = base;
    this.#options = options;
  }

  get base(): LoadedConfig {
    return this.#base;
  }

  problemOf(name: string): string | undefined {
    return this.#problems.get(name);
  }

  /** `base` with those that the store has now. Rejects as the store does, and changes nothing then. */
  async addTo(base: LoadedConfig): Promise<{ loaded: LoadedConfig; use(): void }> {
    const { store, env } = this.#options;
    const unreadable = new Map<string, string>();
    const readable = [];
    for (const upstream of await store.list()) {
      const { name, dialect, baseUrl, models, agentModel, keyVariable } = upstream;
      const value = await this.#keyOf(upstream);
      if (upstream.sealedKey !== undefined && value === undefined) {
        unreadable.set(name, UNREADABLE);
        continue;
      }
      readable.push({
        ...{ name, dialect, baseUrl, models },
        ...(agentModel !== undefined && { agentModel }),
        ...(value !== undefined ? { key: { value } } : keyVariable && { key: { variable: keyVariable } }),
      });
    }
    const { loaded, problems } = withConnected(base, readable, env);
    const use = (): void => {
      this.#base = base;
      this.#problems = new Map([...problems, ...unreadable]);
    };
    return { loaded, use };
  }

  async #keyOf(upstream: StoredUpstream): Promise<string | undefined> {
    if (upstream.sealedKey === undefined) return undefined;
    return this.#options.box.open(upstream.sealedKey, sealContext(upstream));
  }
}

const UNREADABLE = `Its key cannot be decrypted here: it was encrypted on another node or with another secret.key. Give every node the same ${SECRET_KEY_VARIABLE}, or remove it and connect it again.`;
