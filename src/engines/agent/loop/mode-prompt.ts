/** What an agent is told of the mode that a person chose. It may change while the turn runs: asked for with each step. */
import type { TextBlock } from '../../../core/conversation.js';
import type { PermissionGate } from '../../../permissions/gate.js';

type Chosen = Awaited<ReturnType<PermissionGate['modeOf']>>;

const PROMPTS: Partial<Record<NonNullable<Chosen>, string>> = {
  plan: `# Plan first
The user wants a plan before anything is changed. Look around with tools that only read; every other call is refused. When you know what to do, lay the plan before the user with ExitPlanMode: which files change, how, and how the result is checked. Without that tool, end with the plan as your answer. If the user sends it back with words, work them in and ask again.`,
  'read-only': `# Read only
The user lets you read and nothing else: calls that may change something are refused. Answer with what you find, and say what you would change instead of changing it.`,
};

export function modePrompt(chosen: Chosen): TextBlock[] {
  const text = chosen && PROMPTS[chosen];
  return text === undefined ? [] : [{ type: 'text', text }];
}
