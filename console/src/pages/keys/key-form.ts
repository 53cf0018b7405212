/** What a person typed about a new key, and the request that it means. */
import type { KeyWire } from '../../../../src/server/console-api/wire/keys.js';

export const SCOPES = ['call', 'approve', 'admin'] as const;
export const ENDS = ['never', '30', '90', '365'] as const;
export const PERIODS = ['day', 'week', 'month'] as const satisfies readonly NonNullable<
  KeyWire['budget']
>['per'][];
const DAY_MS = 86_400_000;

export interface KeyForm {
  name: string;
  scopes: readonly (typeof SCOPES)[number][];
  models: string;
  team: string;
  ends: (typeof ENDS)[number];
  rpm: string;
  tpm: string;
  maxStreams: string;
  maxAgents: string;
  budget: string;
  per: (typeof PERIODS)[number];
  /** One on each line. */
  workspaces: string;
}

export const EMPTY: KeyForm = {
  ...{ name: '', scopes: ['call'], models: '*', team: '', ends: 'never' },
  ...{ rpm: '', tpm: '', maxStreams: '', maxAgents: '', budget: '', per: 'month', workspaces: '' },
};

export type KeyField = Exclude<keyof KeyForm, 'per' | 'ends'>;
export type KeyProblem = 'name-missing' | 'name-characters' | 'scopes' | 'count' | 'usd';

/** Fields of the folded part. */
export const LIMITS = ['rpm', 'tpm', 'maxStreams', 'maxAgents', 'budget', 'workspaces'] as const;
export const COUNTS = ['rpm', 'tpm', 'maxStreams', 'maxAgents'] as const;

/** What the gateway would refuse, before it is asked. */
export function checkKey(form: KeyForm): Partial<Record<KeyField, KeyProblem>> {
  const problems: Partial<Record<KeyField, KeyProblem>> = {};
  const name = form.name.trim();
  if (name === '') problems.name = 'name-missing';
  else if (!/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(name)) problems.name = 'name-characters';
  if (form.scopes.length === 0) problems.scopes = 'scopes';
  for (const field of COUNTS) {
    const typed = form[field].trim();
    if (typed !== '' && !(Number.isSafeInteger(Number(typed)) && Number(typed) > 0))
      problems[field] = 'count';
  }
  const usd = form.budget.trim();
  if (usd !== '' && !(Number.isFinite(Number(usd)) && Number(usd) > 0)) problems.budget = 'usd';
  return problems;
}

export function bodyOf(form: KeyForm): object {
  const { name, scopes, models, team, ends, budget, per, workspaces } = form;
  const folders = parts(workspaces, '\n');
  const count = (field: (typeof COUNTS)[number], key: string): object =>
    form[field].trim() === '' ? {} : { [key]: Number(form[field]) };
  return {
    name: name.trim(),
    scopes,
    models: parts(models, ','),
    ...(team.trim() !== '' && { team: team.trim() }),
    ...(ends !== 'never' && { expires_at: new Date(Date.now() + Number(ends) * DAY_MS).toISOString() }),
    ...count('rpm', 'rpm'),
    ...count('tpm', 'tpm'),
    ...count('maxStreams', 'max_streams'),
    ...count('maxAgents', 'max_agents'),
    ...(budget.trim() !== '' && { budget: { usd: Number(budget), per } }),
    ...(folders.length > 0 && { workspaces: folders }),
  };
}

const parts = (text: string, separator: string): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

const FIELDS: Readonly<Record<string, KeyField>> = {
  ...{ name: 'name', scopes: 'scopes', models: 'models', team: 'team', rpm: 'rpm', tpm: 'tpm' },
  ...{ max_streams: 'maxStreams', max_agents: 'maxAgents', budget: 'budget', workspaces: 'workspaces' },
};

/** The field of the form that the gateway means by a name of the body. */
export function fieldOf(param: string | null): KeyField | undefined {
  return FIELDS[param?.split('.')[0] ?? ''];
}
