/** Without a file: upstreams from the keys that are in the environment, and the models that they make. */
import { pointsToItself } from './check.js';
import type { Environment } from './environment-references.js';
import type { ConfigInput } from './schema.js';
import type { UPSTREAM_DIALECTS } from './upstream-schema.js';

interface EnvironmentUpstream {
  name: string;
  /** As the provider writes itself. */
  title: string;
  /** Variables that hold its key; the first that is set is taken. */
  keys: readonly [string, ...string[]];
  dialect: (typeof UPSTREAM_DIALECTS)[number];
  baseUrl: string;
  /** A variable that overrides the address, where the provider's own SDK knows one or it has several regions. */
  baseUrlVariable?: string;
  /** Spoken where the address is overridden: servers that imitate an API imitate this one. */
  overriddenDialect?: (typeof UPSTREAM_DIALECTS)[number];
  /** Model names that go to it. */
  models: readonly string[];
  /** Which of its models stand in for Claude's tiers; the middle one drives the agents. */
  tiers: ClaudeTiers;
}

export const ENVIRONMENT_UPSTREAMS: readonly EnvironmentUpstream[] = [
  {
    name: 'anthropic',
    title: 'Anthropic',
    keys: ['ANTHROPIC_API_KEY'],
    dialect: 'anthropic-messages',
    baseUrl: 'https://api.anthropic.com',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    models: ['claude-*'],
    tiers: { opus: 'claude-opus-5-5', sonnet: 'claude-sonnet-5-5', haiku: 'claude-haiku-5-5' },
  },
  {
    name: 'openai',
    title: 'OpenAI',
    keys: ['OPENAI_API_KEY'],
    dialect: 'openai-responses',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariable: 'OPENAI_BASE_URL',
    overriddenDialect: 'openai-chat',
    models: ['gpt-*', 'chatgpt-*', 'codex-*', 'o1*', 'o3*', 'o4*'],
    tiers: { opus: 'gpt-5.6-sol', sonnet: 'gpt-5.6-terra', haiku: 'gpt-5.6-luna' },
  },
  {
    name: 'openrouter',
    title: 'OpenRouter',
    keys: ['OPENROUTER_API_KEY'],
    dialect: 'openai-chat',
    baseUrl: 'https://openrouter.ai/api/v1',
    models: ['*/*'],
    tiers: {
      opus: 'anthropic/claude-opus-5.5',
      sonnet: 'anthropic/claude-sonnet-5.5',
      haiku: 'anthropic/claude-haiku-5.5',
    },
  },
  {
    name: 'deepseek',
    title: 'DeepSeek',
    keys: ['DEEPSEEK_API_KEY'],
    dialect: 'openai-chat',
    baseUrl: 'https://api.deepseek.com/v1',
    models: ['deepseek-*'],
    tiers: { opus: 'deepseek-v4-pro', sonnet: 'deepseek-v4-pro', haiku: 'deepseek-v4-flash' },
  },
  {
    name: 'gemini',
    title: 'Google Gemini',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    dialect: 'openai-chat',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    models: ['gemini-*', 'gemma-*'],
    tiers: { opus: 'gemini-pro-latest', sonnet: 'gemini-flash-latest', haiku: 'gemini-flash-lite-latest' },
  },
  {
    name: 'groq',
    title: 'Groq',
    keys: ['GROQ_API_KEY'],
    dialect: 'openai-chat',
    baseUrl: 'https://api.groq.com/openai/v1',
    models: ['llama-*', 'meta-llama/llama-*', 'openai/gpt-oss-*', 'groq/*'],
    tiers: { opus: 'openai/gpt-oss-120b', sonnet: 'openai/gpt-oss-120b', haiku: 'openai/gpt-oss-20b' },
  },
  {
    name: 'mistral',
    title: 'Mistral',
    keys: ['MISTRAL_API_KEY'],
    dialect: 'openai-chat',
    baseUrl: 'https://api.mistral.ai/v1',
    models: [
      'mistral-*',
      'ministral-*',
      'magistral-*',
      'codestral-*',
      'devstral-*',
      'pixtral-*',
      'open-mistral-*',
    ],
    tiers: { opus: 'mistral-large-latest', sonnet: 'mistral-medium-latest', haiku: 'mistral-small-latest' },
  },
  {
    name: 'moonshot',
    title: 'Moonshot (Kimi)',
    keys: ['MOONSHOT_API_KEY'],
    dialect: 'openai-chat',
    baseUrl: 'https://api.moonshot.ai/v1',
    baseUrlVariable: 'MOONSHOT_BASE_URL',
    models: ['kimi-*', 'moonshot-*'],
    tiers: { opus: 'kimi-k2.7-code', sonnet: 'kimi-k2.7-code', haiku: 'kimi-k2.6' },
  },
  {
    name: 'dashscope',
    title: 'DashScope (Qwen)',
    keys: ['DASHSCOPE_API_KEY'],
    dialect: 'openai-chat',
    baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    baseUrlVariable: 'DASHSCOPE_BASE_URL',
    models: ['qwen-*', 'qwen2*', 'qwen3*', 'qwq-*', 'qvq-*'],
    tiers: { opus: 'qwen3.7-max', sonnet: 'qwen3.7-max', haiku: 'qwen3.6-flash' },
  },
  {
    name: 'xai',
    title: 'xAI',
    keys: ['XAI_API_KEY'],
    dialect: 'openai-chat',
    baseUrl: 'https://api.x.ai/v1',
    models: ['grok-*'],
    tiers: { opus: 'grok-4.5', sonnet: 'grok-4.5', haiku: 'grok-4.3' },
  },
];

/** A row of the table whose key is set, with the variables to take its values from. */
export interface FoundUpstream {
  name: string;
  dialect: EnvironmentUpstream['dialect'];
  keyVariable: string;
  /** Set where the address comes from the environment. */
  baseUrlVariable?: string;
  baseUrl: string;
  models: readonly string[];
  tiers: ClaudeTiers;
}

interface Found {
  upstreams: readonly FoundUpstream[];
  /** Keys that were passed over. */
  notices: readonly Notice[];
}

/** Something that is no error, but that the person who starts the gateway should know. */
export interface Notice {
  finding: string;
  /** What to do about it. */
  advice: string;
}

/** An empty variable counts as not set. */
export function findInEnvironment(env: Environment, server: { host: string; port: number }): Found {
  const upstreams: FoundUpstream[] = [];
  const notices: Notice[] = [];
  for (const row of ENVIRONMENT_UPSTREAMS) {
    const keyVariable = row.keys.find((name) => (env[name] ?? '').trim() !== '');
    if (keyVariable === undefined) continue;
    const override = row.baseUrlVariable === undefined ? '' : (env[row.baseUrlVariable] ?? '').trim();
    if (row.baseUrlVariable === undefined || override === '') {
      upstreams.push({ ...pick(row), keyVariable, baseUrl: row.baseUrl });
      continue;
    }
    // A shell set up for clients of this gateway: its key is theirs, not a provider's.
    if (pointsToItself(override, server)) {
      notices.push({
        finding: `${row.baseUrlVariable} points to this gateway, so ${keyVariable} is not used for an upstream`,
        advice: `unset ${row.baseUrlVariable} where the gateway starts, to use the key`,
      });
      continue;
    }
    const own = URL.canParse(override) && new URL(override).host === new URL(row.baseUrl).host;
    upstreams.push({
      ...pick(row),
      dialect: own ? row.dialect : (row.overriddenDialect ?? row.dialect),
      keyVariable,
      baseUrlVariable: row.baseUrlVariable,
      baseUrl: override,
    });
  }
  return { upstreams, notices };
}

function pick({
  name,
  dialect,
  models,
  tiers,
}: EnvironmentUpstream): Pick<FoundUpstream, 'name' | 'dialect' | 'models' | 'tiers'> {
  return { name, dialect, models, tiers };
}

/** The configuration that stands for "no file". References stay references, so that errors name the variable. */
export function configFromEnvironment(found: Found, options: { claudeCode: boolean }): ConfigInput {
  const upstreams: NonNullable<ConfigInput['upstreams']> = {};
  for (const { name, dialect, keyVariable, baseUrlVariable, baseUrl } of found.upstreams) {
    upstreams[name] = {
      dialect,
      base_url: baseUrlVariable === undefined ? baseUrl : `\${${baseUrlVariable}}`,
      api_key: `\${${keyVariable}}`,
    };
  }
  return { upstreams, models: defaultModels(found.upstreams, options) };
}

/** What stands in for each of Claude's tiers, by which Claude Code names its models. */
interface ClaudeTiers {
  opus: string;
  sonnet: string;
  haiku: string;
}

/** Who answers, and to which names. */
export interface Connected {
  name: string;
  /** Names and globs of its own models. */
  models: readonly string[];
  /** Absent where it is not known which of its models could. */
  tiers?: ClaudeTiers;
}

type ModelInput = NonNullable<ConfigInput['models']>[string];

const DEMO = 'demo';
const EVERY_CLAUDE = 'claude-*';
/** Behind `claude-` the tier stands first or after a version: `claude-opus-5-5`, `claude-3-5-haiku-…`. */
export const TIER_GLOBS = [
  ['claude-*opus*', 'opus'],
  ['claude-*haiku*', 'haiku'],
  [EVERY_CLAUDE, 'sonnet'],
] as const satisfies readonly (readonly [glob: string, tier: keyof ClaudeTiers])[];

/**
 * The models that there are without a file, and that `init` writes out: two agents, the providers'
 * names, Claude's. `connected` is in order of preference: the first drives the agents, and answers to
 * Claude's names where Anthropic itself is not there. With anybody connected no name leads to the demo
 * model but its own.
 */
export function defaultModels(
  connected: readonly Connected[],
  { claudeCode }: { claudeCode: boolean },
): Record<string, ModelInput> {
  const best = connected.find((each): each is Required<Connected> => each.tiers !== undefined);
  const driver =
    best === undefined ? { upstream: DEMO, model: DEMO } : { upstream: best.name, model: best.tiers.sonnet };
  const models = new Map<string, ModelInput>();
  const add = (name: string, model: ModelInput): void => {
    if (!models.has(name)) models.set(name, model);
  };
  add('agent', { engine: 'native', ...driver });
  if (claudeCode) add('claude-code', { engine: 'claude-code', ...driver });
  for (const { name: upstream, models: names } of connected)
    for (const name of names) add(name, { upstream });
  if (best !== undefined && !models.has(EVERY_CLAUDE)) {
    for (const [glob, tier] of TIER_GLOBS) add(glob, { upstream: best.name, model: best.tiers[tier] });
  }
  add(DEMO, { upstream: DEMO });
  if (connected.length === 0) add('*', { upstream: DEMO });
  return Object.fromEntries(models);
}
