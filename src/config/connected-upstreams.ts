/** The configuration with upstreams that were connected at run time. What the file or the environment says wins. */
import { ConfigError } from './config-error.js';
import type { Environment } from './environment-references.js';
import {
  type Connected,
  configFromEnvironment,
  defaultModels,
  ENVIRONMENT_UPSTREAMS,
  findInEnvironment,
} from './from-environment.js';
import type { LoadedConfig } from './load.js';
import { parseConfig } from './parse.js';
import type { Config } from './schema.js';

interface ConnectedUpstream {
  name: string;
  dialect: string;
  baseUrl: string;
  key?: { value: string } | { variable: string };
  models: readonly string[];
  agentModel?: string;
}

interface WithConnected {
  loaded: LoadedConfig;
  /** Why one cannot be used, by its name. */
  problems: ReadonlyMap<string, string>;
}

/** Stands for a key that is no variable of the environment. */
const KEY = 'TOOLGATE_CONNECTED_KEY';

/** Never throws for one that is wrong: the others are there all the same. */
export function withConnected(
  base: LoadedConfig,
  connected: readonly ConnectedUpstream[],
  env: Environment,
): WithConnected {
  const problems = new Map<string, string>();
  const taken: ConnectedUpstream[] = [];
  const secrets = new Set(base.secrets);
  const upstreams: Config['upstreams'] = { ...base.config.upstreams };
  const own: Config['models'] = {};
  for (const upstream of connected) {
    const { name } = upstream;
    if (upstreams[name] !== undefined) continue;
    try {
      const parsed = parseConfig(inputOf(upstream), {
        env: upstream.key !== undefined && 'value' in upstream.key ? { [KEY]: upstream.key.value } : env,
        overrides: { port: base.config.server.port },
      });
      const made = parsed.config.upstreams[name];
      if (made === undefined) continue;
      upstreams[name] = made;
      for (const [model, entry] of Object.entries(parsed.config.models)) own[model] ??= entry;
      for (const secret of parsed.secrets) secrets.add(secret);
      taken.push(upstream);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.set(name, error.message);
    }
  }
  if (taken.length === 0) return { loaded: base, problems };
  const models = base.origin === 'environment' ? modelsWithout(base, taken, env) : base.config.models;
  const config = { ...base.config, upstreams, models: { ...own, ...models } };
  return { loaded: { ...base, config, secrets: [...secrets] }, problems };
}

function inputOf({ name, dialect, baseUrl, key, models }: ConnectedUpstream): object {
  const variable = key === undefined ? undefined : 'value' in key ? KEY : key.variable;
  return {
    upstreams: {
      [name]: {
        dialect,
        base_url: baseUrl,
        ...(variable !== undefined && { api_key: `\${${variable}}` }),
      },
    },
    models: Object.fromEntries(models.map((model) => [model, { upstream: name }])),
  };
}

/** Those that there are without a file, as if the upstreams had been in the environment. */
function modelsWithout(
  { config }: LoadedConfig,
  taken: readonly ConnectedUpstream[],
  env: Environment,
): Config['models'] {
  const found = findInEnvironment(env, config.server);
  const claudeCode = config.models['claude-code'] !== undefined;
  const models = defaultModels([...found.upstreams, ...taken.map(connectedOf)], { claudeCode });
  const names = [...taken.map(({ name }) => name)];
  const stand = Object.fromEntries(names.map((name) => [name, { dialect: 'demo' as const }]));
  const { upstreams } = configFromEnvironment(found, { claudeCode });
  return parseConfig({ upstreams: { ...upstreams, ...stand }, models }, { env }).config.models;
}

function connectedOf({ name, baseUrl, models, agentModel }: ConnectedUpstream): Connected {
  const known = ENVIRONMENT_UPSTREAMS.find((row) => row.baseUrl === baseUrl)?.tiers;
  const offered = (model: string | undefined): string | undefined =>
    model !== undefined && models.includes(model) ? model : undefined;
  const main = agentModel ?? offered(known?.sonnet) ?? models[0];
  if (main === undefined) return { name, models };
  const tiers = {
    opus: offered(known?.opus) ?? main,
    sonnet: main,
    haiku: offered(known?.haiku) ?? main,
  };
  return { name, models, tiers };
}
