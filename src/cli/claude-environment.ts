/** The environment in which Claude Code talks to this gateway and to nobody else. */
import type { Environment } from '../config/environment-references.js';

export interface ClaudeModels {
  /** The model to start with. */
  main?: string;
  /** In place of the names for small and other work. */
  others?: string;
  /** Tokens that fit into the model, so that the context meter and compaction are right. */
  contextWindow?: number;
}

export interface ClaudeEnvironmentOptions {
  url: string;
  /** What the gateway takes; anything where it has no keys. */
  credential: string;
  models: ClaudeModels;
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

export function claudeEnvironment(env: Environment, options: ClaudeEnvironmentOptions): NodeJS.ProcessEnv {
  const { url, credential, models } = options;
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
  if (models.others !== undefined) {
    result['ANTHROPIC_SMALL_FAST_MODEL'] ??= models.others;
    for (const tier of TIERS) result[`ANTHROPIC_DEFAULT_${tier}_MODEL`] ??= models.others;
  }
  return result;
}
