import type { Config } from '../../config/schema.js';
import { type CheckOptions, checkClaudeCode } from '../../engines/claude-code/processes/load-sdk.js';
import { type Check, fail, ok } from './check.js';

const SUBJECT = 'claude-code';

/** Whether the engine `claude-code` can be used, where a model asks for it. */
export async function checkClaudeCodeEngine(
  models: Config['models'],
  options: CheckOptions = {},
): Promise<Check[]> {
  const names = Object.keys(models).filter((name) => models[name]?.engine === 'claude-code');
  if (names.length === 0) return [];
  const found = await checkClaudeCode(options);
  if (found.ok) return [ok(SUBJECT, `Agent SDK ${found.sdkVersion}, ${found.binary}`)];
  const advice = `or use another engine for ${names.join(', ')}`;
  return [fail(SUBJECT, found.problem, advice)];
}
