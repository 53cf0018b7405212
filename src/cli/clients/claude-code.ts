/** Claude Code: the environment in which it talks to this gateway alone. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Environment } from '../../config/environment-references.js';
import type { Config } from '../../config/schema.js';
import { checkClaudeCode } from '../../engines/claude-code/processes/load-sdk.js';
import { type ClientSetting, type CodingClient, routerOf } from './client.js';

/** Brings the program with it. */
const PACKAGE = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;

/** That of the Agent SDK, where the engine has it, or of Claude Code's own package. */
async function inPackages(env: Environment): Promise<string[]> {
  const sdk = await checkClaudeCode({ env });
  if (sdk.ok) return [sdk.binary];
  try {
    return [join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), 'claude')];
  } catch {
    return [];
  }
}

interface ClaudeModels {
  /** The model to start with. */
  main?: string;
  /** In place of the names for small and other work. */
  others?: string;
  /** Tokens that fit into the model, so that the context meter and compaction are right. */
  contextWindow?: number;
  /** Its upstream checks tool calls for auto mode. Otherwise Claude Code has to be told to check them itself. */
  checksToolCalls: boolean;
}

/** Credentials and addresses that would lead Claude Code past the gateway. */
const REMOVED = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'ANTHROPIC_CUSTOM_HEADERS',
];

const TIERS = ['OPUS', 'SONNET', 'HAIKU', 'FABLE'];

function claudeEnvironment({ env, url, credential, config, wanted }: ClientSetting): NodeJS.ProcessEnv {
  const models = modelsFor(config, wanted);
  const result: NodeJS.ProcessEnv = { ...env };
  for (const name of REMOVED) delete result[name];
  result['ANTHROPIC_BASE_URL'] = url;
  result['ANTHROPIC_AUTH_TOKEN'] = credential;
  // Update checks and telemetry go to Anthropic directly; a person who wants them can say 0.
  result['CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC'] ??= '1';
  // Lists the gateway's models in /model.
  result['CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY'] ??= '1';
  if (models.main !== undefined) result['ANTHROPIC_MODEL'] = models.main;
  if (models.contextWindow !== undefined)
    result['CLAUDE_CODE_MAX_CONTEXT_TOKENS'] ??= String(models.contextWindow);
  if (!models.checksToolCalls) result['CLAUDE_CODE_AUTO_MODE_SERVER'] ??= '0';
  if (models.others !== undefined) {
    result['ANTHROPIC_SMALL_FAST_MODEL'] ??= models.others;
    for (const tier of TIERS) result[`ANTHROPIC_DEFAULT_${tier}_MODEL`] ??= models.others;
  }
  return result;
}

/** Of the kind that Claude Code asks for when no model was chosen. */
const A_CLAUDE_NAME = 'claude-sonnet-4-5';

/**
 * Claude Code asks for `claude-…` names of its own. Where the configuration routes none of them, it
 * is configured to ask for a model that exists.
 */
function modelsFor(config: Config, wanted: string | undefined): ClaudeModels {
  const router = routerOf(config.models);
  const named = [...router.named().keys()];
  // An agent would run tools of its own besides those of Claude Code.
  const fallback = wanted ?? named.find((name) => config.models[name]?.engine === 'relay') ?? named[0];
  const claude = router.route(A_CLAUDE_NAME);
  const main = wanted ?? (claude === undefined ? fallback : undefined);
  const pattern = router.route(main ?? A_CLAUDE_NAME)?.pattern;
  const asked = pattern === undefined ? undefined : config.models[pattern];
  const contextWindow = asked?.context_window;
  return {
    ...(main === undefined ? {} : { main }),
    ...(claude !== undefined || fallback === undefined ? {} : { others: fallback }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    checksToolCalls:
      asked?.engine === 'relay' &&
      [asked.upstream].flat().some((name) => config.upstreams[name]?.dialect === 'anthropic-messages'),
  };
}

export const claudeCode: CodingClient = {
  title: 'Claude Code',
  program: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  elsewhere: inPackages,
  prepare: (setting) => ({ env: claudeEnvironment(setting), args: [] }),
};
