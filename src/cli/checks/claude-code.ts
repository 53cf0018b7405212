import type { LoadedConfig } from '../../config/load.js';
import {
  type CheckOptions,
  checkClaudeCode,
  SDK_SIZE,
} from '../../engines/claude-code/processes/load-sdk.js';
import { type Check, fail, ok, warn } from './check.js';

const SUBJECT = 'claude-code';

/** Whether the engine `claude-code` can be used, where a model asks for it or, without a file, would. */
export async function checkClaudeCodeEngine(
  { config: { models }, origin }: Pick<LoadedConfig, 'config' | 'origin'>,
  program: string,
  options: CheckOptions = {},
): Promise<Check[]> {
  const names = Object.keys(models).filter((name) => models[name]?.engine === 'claude-code');
  if (names.length === 0 && origin !== 'environment') return [];
  const found = await checkClaudeCode(options);
  if (found.ok) return [ok(SUBJECT, `Agent SDK ${found.sdkVersion}, ${found.binary}`)];
  if (names.length > 0)
    return [fail(SUBJECT, found.problem, `or use another engine for ${names.join(', ')}`)];
  if (!found.addable) return [];
  return [
    warn(
      SUBJECT,
      'Claude Code is not installed, so there is no model claude-code',
      `to have it, run \`${program} add claude-code\` (${SDK_SIZE}) and start again`,
    ),
  ];
}
