/** Upstreams at run time: listed, tested, connected, removed, and written out for the file. */
import * as z from 'zod';
import { pointsToItself } from '../../config/check.js';
import type { Environment } from '../../config/environment-references.js';
import { ENVIRONMENT_UPSTREAMS } from '../../config/from-environment.js';
import type { LoadedConfig } from '../../config/load.js';
import { maskUrl } from '../../config/redact.js';
import { credential, httpUrl } from '../../config/schema-fields.js';
import { DIALECT_NAMES } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { NewUpstream, StoredUpstream, UpstreamStore } from '../../store/upstreams.js';
import { FetchProblem } from '../../transport/guarded-fetch/fetch-problem.js';
import { askForModels, checkAddress, type ModelsAnswer } from '../../upstreams/ask-for-models.js';
import { findLocalServers, LOCAL_DIALECT, type LocalServer } from '../../upstreams/local-servers.js';
import { read, wrong } from './read-fields.js';
import type {
  LocalServersWire,
  ProviderWire,
  UpstreamListWire,
  UpstreamTestWire,
  UpstreamWire,
} from './wire/upstreams.js';

const MOST_UPSTREAMS = 100;
const MOST_MODELS = 1000;

/** Encrypts keys for the store. */
export interface SealKeys {
  /** Why it cannot be done here: a sentence, and what to do. */
  readonly obstacle: string | undefined;
  seal(secret: string, context: string): Promise<string>;
}

/** What became of those in the store. */
export interface ConnectedStates {
  /** What the file or the environment says alone. */
  readonly base: Pick<LoadedConfig, 'config' | 'origin'>;
  /** Why one cannot be used. */
  problemOf(name: string): string | undefined;
}

/** A key is good for one address alone: who can write the store cannot have it sent elsewhere. */
export const sealContext = ({ name, baseUrl }: Pick<NewUpstream, 'name' | 'baseUrl'>): string =>
  `${name}\n${baseUrl}`;

const nameField = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error: 'expected a name of letters, digits and . _ - (at most 64)',
});
const modelField = z.string().regex(/^[^\s*?[\]{}$]{1,200}$/, {
  error: 'expected the whole name of a model, without spaces and globs',
});
const REACHED_BY = {
  dialect: z.enum(DIALECT_NAMES),
  base_url: httpUrl(''),
  api_key: credential('').max(4096).nullish(),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: 'expected the name of an environment variable' })
    .nullish(),
};
const tested = z.strictObject(REACHED_BY);
const connected = z.strictObject({
  name: nameField,
  ...REACHED_BY,
  models: z.array(modelField).min(1).max(MOST_MODELS),
  agent_model: modelField.nullish(),
});

interface UpstreamAdministrationOptions {
  store: UpstreamStore;
  box: SealKeys;
  states: ConnectedStates;
  env: Environment;
  /** Where model servers of this machine are looked for; no caller can name another place. */
  localServers: readonly LocalServer[];
  /** What is in the store holds when it resolves. */
  refresh(by: string): Promise<unknown>;
}

export class UpstreamAdministration {
  readonly #options: UpstreamAdministrationOptions;

  constructor(options: UpstreamAdministrationOptions) {
    this.#options = options;
  }

  async list(): Promise<UpstreamListWire> {
    const { store, box, states, env } = this.#options;
    const stored = await store.list();
    return {
      data: [...configuredToWire(states.base), ...stored.map((upstream) => this.#toWire(upstream))],
      providers: providersToWire(env),
      key_obstacle: box.obstacle ?? null,
    };
  }

  /** Asks the known loopback addresses alone, for less than a second. Never rejects. */
  async local(signal: AbortSignal): Promise<LocalServersWire> {
    const { localServers, states } = this.#options;
    const { server } = states.base.config;
    // The gateway lists models as these servers do, and may listen on one of their ports.
    const others = localServers.filter(({ baseUrl }) => !pointsToItself(baseUrl, server));
    const found = await findLocalServers(others, signal);
    return {
      data: found.map(({ name, title, baseUrl, models }) => ({
        ...{ name, title, dialect: LOCAL_DIALECT, base_url: baseUrl, models: [...models] },
      })),
    };
  }

  /** Throws `invalid_request` that names the field. What the upstream says is in the answer. */
  async test(body: unknown, signal: AbortSignal): Promise<UpstreamTestWire> {
    const { api_key, api_key_env, ...given } = read(tested, body);
    checkOneKey(api_key, api_key_env);
    const upstream = { dialect: given.dialect, base_url: cleanAddress(given.base_url) };
    const key = api_key ?? this.#variable(api_key_env);
    const answer = await askForModels({ ...upstream, ...(key !== undefined && { api_key: key }) }, signal);
    return {
      ok: answer.kind === 'models',
      problem: problemOf(answer, upstream, key !== undefined),
      models: answer.kind === 'models' ? answer.models : null,
    };
  }

  /** Throws `invalid_request` that names the field, and `conflict` where a key cannot be stored. */
  async add(body: unknown, by: string): Promise<UpstreamWire> {
    const { store, box, refresh } = this.#options;
    const { name, dialect, api_key, api_key_env, models, agent_model, base_url } = read(connected, body);
    checkOneKey(api_key, api_key_env);
    const baseUrl = cleanAddress(base_url);
    if (typeof agent_model === 'string' && !models.includes(agent_model)) {
      throw wrong('agent_model', 'expected one of models');
    }
    await this.#checkName(name);
    this.#variable(api_key_env);
    await checkReachable(baseUrl);
    if (typeof api_key === 'string' && box.obstacle !== undefined) {
      throw new GatewayError('conflict', box.obstacle, { param: 'api_key', detail: 'key_not_storable' });
    }
    const added = await store.add(
      {
        ...{ name, dialect, baseUrl, models: [...new Set(models)] },
        ...(typeof api_key === 'string' && {
          sealedKey: await box.seal(api_key, sealContext({ name, baseUrl })),
        }),
        ...(typeof api_key_env === 'string' && { keyVariable: api_key_env }),
        ...(typeof agent_model === 'string' && { agentModel: agent_model }),
      },
      by,
    );
    if (added === undefined) throw nameTaken(name);
    await refresh(by);
    return this.#toWire(added);
  }

  /** Throws `not_found`, and `conflict` for one of the configuration. */
  async remove(name: string, by: string): Promise<UpstreamWire> {
    const { store, refresh } = this.#options;
    const removed = await store.remove(name, by);
    // Also where it is gone already: it may be in use still, where the refresh of an earlier try failed.
    await refresh(by);
    if (removed === undefined) throw this.#unknown(name);
    return this.#toWire(removed);
  }

  /** Without secrets: a key is named as an environment variable. */
  async toYaml(): Promise<string> {
    const stored = await this.#options.store.list();
    if (stored.length === 0) return '# Nothing was connected at run time.\n';
    const upstreams = stored.map(({ name, dialect, baseUrl, keyVariable, sealedKey }) => {
      const variable = keyVariable ?? (sealedKey === undefined ? undefined : variableOf(name));
      const settings = { dialect, base_url: baseUrl, ...(variable && { api_key: `\${${variable}}` }) };
      return `  ${JSON.stringify(name)}: ${JSON.stringify(settings)}\n`;
    });
    const models = stored.flatMap(({ name, models }) =>
      models.map((model) => `  ${JSON.stringify(model)}: ${JSON.stringify({ upstream: name })}\n`),
    );
    return `upstreams:\n${upstreams.join('')}models:\n${[...new Set(models)].join('')}`;
  }

  #variable(name: string | null | undefined): string | undefined {
    if (typeof name !== 'string') return undefined;
    const value = this.#options.env[name] ?? '';
    if (name.startsWith('TOOLGATE_') || isOwnSecret(this.#options.states.base, value)) {
      throw wrong('api_key_env', `${name} is a secret of the gateway itself, which no upstream may have`);
    }
    if (value !== '') return value;
    throw wrong(
      'api_key_env',
      `the environment of the gateway has no ${name}. Set it and restart, or type the key`,
    );
  }

  async #checkName(name: string): Promise<void> {
    const { store, states } = this.#options;
    if (states.base.config.upstreams[name] !== undefined) {
      throw wrong('name', `the configuration has an upstream "${name}"; choose another name`);
    }
    const stored = await store.list();
    if (stored.some((upstream) => upstream.name === name)) throw nameTaken(name);
    if (stored.length >= MOST_UPSTREAMS) {
      throw wrong('name', `there are ${MOST_UPSTREAMS} upstreams, the most there may be; remove some`);
    }
  }

  #unknown(name: string): GatewayError {
    if (this.#options.states.base.config.upstreams[name] !== undefined) {
      return new GatewayError(
        'conflict',
        `The upstream "${name}" comes from the configuration or the environment and cannot be removed here. Change it there.`,
        { param: 'name', detail: 'upstream_in_configuration' },
      );
    }
    return new GatewayError(
      'not_found',
      `There is no upstream ${JSON.stringify(name.slice(0, 100))}. GET /api/upstreams lists them.`,
      { param: 'name', detail: 'upstream_not_found' },
    );
  }

  #toWire(upstream: StoredUpstream): UpstreamWire {
    const { name, dialect, baseUrl, sealedKey, keyVariable, models, agentModel, createdAt, createdBy } =
      upstream;
    const { states } = this.#options;
    const isReplaced = states.base.config.upstreams[name] !== undefined;
    const problem = isReplaced ? undefined : states.problemOf(name);
    return {
      ...{ name, source: 'store', dialect, base_url: baseUrl },
      state: isReplaced ? 'replaced' : problem === undefined ? 'active' : 'unusable',
      problem: problem ?? null,
      key: sealedKey !== undefined ? 'stored' : keyVariable !== undefined ? 'environment' : 'none',
      key_variable: keyVariable ?? null,
      models: [...models],
      agent_model: agentModel ?? null,
      created_at: new Date(createdAt).toISOString(),
      created_by: createdBy,
    };
  }
}

/** What opens this gateway, its store or its cluster. */
function isOwnSecret(
  { config: { server, cluster, store } }: ConnectedStates['base'],
  value: string,
): boolean {
  if (value === '') return false;
  return [...server.keys.map(({ key }) => key), cluster?.secret].includes(value) || store.includes(value);
}

function configuredToWire({ config, origin }: ConnectedStates['base']): UpstreamWire[] {
  const source = origin === 'environment' ? 'environment' : 'configuration';
  return Object.entries(config.upstreams).map(([name, upstream]) => ({
    ...{ name, source, state: 'active', problem: null, dialect: upstream.dialect },
    base_url: upstream.dialect === 'demo' ? null : maskUrl(upstream.base_url),
    key: upstream.dialect === 'demo' || upstream.api_key === undefined ? 'none' : source,
    ...{ key_variable: null, models: null, agent_model: null, created_at: null, created_by: null },
  }));
}

function providersToWire(env: Environment): ProviderWire[] {
  return ENVIRONMENT_UPSTREAMS.map(({ name, title, dialect, baseUrl, keys, tiers }) => {
    const set = keys.find((variable) => (env[variable] ?? '').trim() !== '');
    return {
      ...{ name, title, dialect, base_url: baseUrl },
      key_variable: set ?? keys[0],
      key_is_set: set !== undefined,
      suggested: [...new Set([tiers.sonnet, tiers.opus, tiers.haiku])],
    };
  });
}

/** The address is shown and stored in the clear, so that nothing secret may stand in it. */
function cleanAddress(address: string): string {
  const url = new URL(address);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw wrong(
      'base_url',
      'expected an address without a user name, a query and a fragment; a key belongs into api_key',
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** A server that is not up yet may be connected; one that may never be reached may not. */
async function checkReachable(baseUrl: string): Promise<void> {
  try {
    await checkAddress(baseUrl);
  } catch (error) {
    if (error instanceof FetchProblem && error.kind === 'refused')
      throw wrong('base_url', error.message.replace(/\.$/, ''));
  }
}

function checkOneKey(key: string | null | undefined, variable: string | null | undefined): void {
  if (typeof key !== 'string' || typeof variable !== 'string') return;
  throw wrong('api_key_env', 'there is an api_key as well; give one of them');
}

const variableOf = (name: string): string =>
  `${name
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '_')
    .replace(/^(?=\d)/, '_')}_API_KEY`;

const nameTaken = (name: string): GatewayError =>
  wrong('name', `there is an upstream "${name}" already; choose another name, or remove that one`);

function problemOf(
  answer: ModelsAnswer,
  { dialect, base_url }: { dialect: (typeof DIALECT_NAMES)[number]; base_url: string },
  hasKey: boolean,
): string | null {
  switch (answer.kind) {
    case 'models':
      return answer.models.length === 0
        ? 'It answered, and has no models. Load one there, or name one.'
        : null;
    case 'failed':
      return answer.why;
    case 'refused':
      return hasKey
        ? `It refuses the key (${answer.status}). Is the key whole, not revoked, and of this provider?`
        : `It wants a key (${answer.status}).`;
    case 'no-list':
      return `It answered ${answer.status} and gave no list of models. ${addressAdvice(dialect, base_url)}`;
  }
}

/** The version in the path, which one SDK adds and the others do not, is the mistake that is made most. */
function addressAdvice(dialect: string, baseUrl: string): string {
  const isVersioned = /\/v\d+\w*$/.test(baseUrl);
  if (dialect === 'anthropic-messages' && isVersioned)
    return 'The address of this dialect is without /v1: leave it out.';
  if (dialect !== 'anthropic-messages' && !isVersioned)
    return 'The address of this dialect usually ends with /v1: add it.';
  return 'Check the address, or name its models yourself where it has no such list.';
}
