/** What a process is started with, and how two that could be the same are known. */
import { realpathSync, statSync } from 'node:fs';
import type { TextBlock } from '../../../core/conversation.js';
import type { ModelRoute } from '../../../routing/model-router.js';
import type { Turn } from '../../../sessions/sessions.js';
import type { OpenToolState } from '../../../tools/runtime/runtime.js';
import { isInside } from '../../../workspace/real-path.js';
import { LIMITS } from '../../agent/limits.js';
import type { OpenOptions, ProcessProfile } from '../processes/claude-processes.js';
import type { ToolPlan } from '../tool-calls/tool-plan.js';

interface ProfileOptions {
  route: ModelRoute;
  turn: Turn;
  baseUrl: string;
}

export function profileOf({ route, turn, baseUrl }: ProfileOptions, plan: ToolPlan): ProcessProfile {
  return {
    cwd: turn.root,
    model: route.model,
    baseUrl,
    tools: plan.claude,
    contextWindow: route.rule.contextWindow ?? LIMITS.context.window,
  };
}

/** Where its commands were last, as long as that is a folder of the profile's. */
export function workingFolder(
  { cwd }: Pick<OpenToolState, 'cwd'>,
  profile: ProcessProfile,
  plan: Pick<ToolPlan, 'ownerOf'>,
): string {
  // The gateway's commands have their own place, and Claude Code does not move.
  if (plan.ownerOf('Bash') !== 'claude') return profile.cwd;
  try {
    const real = realpathSync(cwd);
    return isInside(profile.cwd, real) && statSync(real).isDirectory() ? real : profile.cwd;
  } catch {
    return profile.cwd;
  }
}

export function systemOf({ route, turn }: ProfileOptions): OpenOptions['system'] {
  const text = turn.system
    .map((block: TextBlock) => block.text)
    .filter((each) => each.trim() !== '')
    .join('\n\n');
  return { mode: text === '' ? 'append' : (route.rule.system ?? 'append'), text };
}

/** Two turns with the same one can use the same process. */
export function compatibilityKey(options: ProfileOptions, plan: ToolPlan): string {
  return JSON.stringify([
    plan.compatibility,
    profileOf(options, plan),
    systemOf(options),
    options.route.pattern,
  ]);
}
