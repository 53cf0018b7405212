/** What a person chose and typed about a new upstream, and the request that it means. */
import type {
  LocalServerWire,
  ProviderWire,
  UpstreamTestWire,
} from '../../../src/server/console-api/wire/upstreams.js';

export const DIALECTS = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** What was chosen in the first step, and what is known about it. */
export interface Starting {
  kind: 'provider' | 'local' | 'other';
  title: string;
  /** Models to choose by themselves, the one for agents first. */
  suggested: readonly string[];
  /** Of a server that was asked already. */
  offered: readonly string[] | undefined;
}

export interface ConnectForm {
  name: string;
  dialect: string;
  address: string;
  keyFrom: 'typed' | 'environment';
  key: string;
  variable: string;
  /** Those that are connected. */
  models: readonly string[];
  /** Names that were typed, where the server gives no list; one on each line. */
  typedModels: string;
  agentModel: string;
}

export type FormField = 'name' | 'address' | 'key' | 'variable' | 'models' | 'agent' | 'dialect';
export type FormProblem =
  | 'name-missing'
  | 'name-characters'
  | 'name-taken'
  | 'address-missing'
  | 'address-scheme'
  | 'key-missing'
  | 'variable-missing'
  | 'variable-characters'
  | 'models-missing';
export type Problems = Partial<Record<FormField, FormProblem>>;

const EMPTY: ConnectForm = {
  ...{ name: '', dialect: 'openai-chat', address: '', keyFrom: 'typed', key: '', variable: '' },
  ...{ models: [], typedModels: '', agentModel: '' },
};

interface Start {
  starting: Starting;
  form: ConnectForm;
}

interface Situation {
  taken: readonly string[];
  /** A key that is typed could not be stored. */
  canStore: boolean;
}

export function fromProvider(provider: ProviderWire, { taken, canStore }: Situation): Start {
  return {
    starting: { kind: 'provider', title: provider.title, suggested: provider.suggested, offered: undefined },
    form: {
      ...EMPTY,
      ...{ name: freeName(provider.name, taken), dialect: provider.dialect, address: provider.base_url },
      ...{ keyFrom: provider.key_is_set || !canStore ? 'environment' : 'typed' },
      variable: provider.key_variable,
    },
  };
}

export function fromLocal(server: LocalServerWire, { taken }: Situation): Start {
  const starting: Starting = { kind: 'local', title: server.title, suggested: [], offered: server.models };
  const form = { ...EMPTY, dialect: server.dialect, address: server.base_url };
  return {
    starting,
    form: withModels({ ...form, name: freeName(server.name, taken) }, starting, server.models),
  };
}

export function fromNothing(title: string, { taken, canStore }: Situation): Start {
  return {
    starting: { kind: 'other', title, suggested: [], offered: undefined },
    form: { ...EMPTY, name: freeName('custom', taken), keyFrom: canStore ? 'typed' : 'environment' },
  };
}

function freeName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name;
  for (let number = 2; ; number++) if (!taken.includes(`${name}-${number}`)) return `${name}-${number}`;
}

/** A list so short is taken whole. */
const FEW = 12;

/** What the server offers, with those chosen that most people would choose. */
export function withModels(
  form: ConnectForm,
  { suggested }: Starting,
  offered: readonly string[],
): ConnectForm {
  const kept = form.models.filter((model) => offered.includes(model));
  const known = suggested.filter((model) => offered.includes(model));
  const usual = known.length > 0 ? known : offered.length <= FEW ? offered : [];
  return { ...form, models: kept.length > 0 ? kept : usual };
}

/** The names that would be connected. */
export function modelsOf(form: ConnectForm, tested: UpstreamTestWire | undefined): readonly string[] {
  if (tested?.models !== null && tested?.models !== undefined && tested.models.length > 0) return form.models;
  const names = form.typedModels.split(/[\n,]/).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

/** The one that was chosen, as long as it is connected, else the first. */
export function agentModelOf(form: ConnectForm, models: readonly string[]): string | undefined {
  return models.includes(form.agentModel) ? form.agentModel : models[0];
}

/** What the gateway would refuse, before it is asked. */
export function checkReached(form: ConnectForm, { kind }: Starting): Problems {
  const problems: Problems = {};
  const address = form.address.trim();
  if (address === '') problems.address = 'address-missing';
  else if (!/^https?:\/\/[^/]/i.test(address)) problems.address = 'address-scheme';
  const variable = form.variable.trim();
  if (form.keyFrom === 'typed') {
    if (kind === 'provider' && form.key.trim() === '') problems.key = 'key-missing';
  } else if (variable === '') {
    if (kind === 'provider') problems.variable = 'variable-missing';
  } else if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) {
    problems.variable = 'variable-characters';
  }
  return problems;
}

export function checkConnected(
  form: ConnectForm,
  starting: Starting,
  models: readonly string[],
  taken: readonly string[],
): Problems {
  const problems = checkReached(form, starting);
  const name = form.name.trim();
  if (name === '') problems.name = 'name-missing';
  else if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) problems.name = 'name-characters';
  else if (taken.includes(name)) problems.name = 'name-taken';
  if (models.length === 0) problems.models = 'models-missing';
  return problems;
}

/** The body of a test. */
export function reachedBy(form: ConnectForm): object {
  const [key, variable] = [form.key.trim(), form.variable.trim()];
  return {
    dialect: form.dialect,
    base_url: form.address.trim(),
    ...(form.keyFrom === 'typed' && key !== '' && { api_key: key }),
    ...(form.keyFrom === 'environment' && variable !== '' && { api_key_env: variable }),
  };
}

export function connectionOf(form: ConnectForm, models: readonly string[]): object {
  const agent = agentModelOf(form, models);
  return {
    name: form.name.trim(),
    ...reachedBy(form),
    models,
    ...(agent !== undefined && { agent_model: agent }),
  };
}

const FIELDS: Readonly<Record<string, FormField>> = {
  name: 'name',
  base_url: 'address',
  api_key: 'key',
  api_key_env: 'variable',
  models: 'models',
  agent_model: 'agent',
  dialect: 'dialect',
};

/** The field of the form that the gateway means by a name of the body. */
export function fieldOf(param: string | null): FormField | undefined {
  return FIELDS[param?.split('.')[0] ?? ''];
}

/** Where what a test found belongs: a refused key is the key's fault, all else the address's. */
export function fieldOfProblem(problem: string, { keyFrom }: ConnectForm): FormField {
  if (!/^It (refuses the|wants a) key/.test(problem)) return 'address';
  return keyFrom === 'typed' ? 'key' : 'variable';
}
