/** The models that there are without a file, and that `init` writes out: two agents, the providers' names, Claude's. */
import type { ConfigInput } from './schema.js';

/** What stands in for each of Claude's tiers, by which Claude Code names its models. */
export interface ClaudeTiers {
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
 * `connected` is in order of preference: the first drives the agents, and answers to Claude's names
 * where Anthropic itself is not there. With anybody connected no name leads to the demo model but its own.
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
