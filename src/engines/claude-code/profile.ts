/** What a process is started with, and how two that could be the same are known. */
import type { TextBlock } from '../../core/conversation.js';
import type { Route } from '../../routing/router.js';
import type { SessionTurn } from '../../sessions/sessions.js';
import { LIMITS } from '../agent/limits.js';
import type { OpenOptions, ProcessProfile } from './claude-processes.js';
import type { ToolPlan } from './tool-plan.js';

export interface ProfileOptions {
  route: Route;
  turn: SessionTurn;
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

export function systemOf({ route, turn }: ProfileOptions): OpenOptions['system'] {
  const text = turn.system
    .map((block: TextBlock) => block.text)
    .filter((each) => each.trim() !== '')
    .join('\n\n');
  return { mode: text === '' ? 'append' : (route.rule.system ?? 'append'), text };
}

/** Two turns with the same one can be told to the same process. */
export function fingerprintOf(options: ProfileOptions, plan: ToolPlan): string {
  return JSON.stringify([
    plan.fingerprint,
    profileOf(options, plan),
    systemOf(options),
    options.route.pattern,
  ]);
}
