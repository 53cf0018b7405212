/** What all parts of one turn share: who asked, who answers, and what it may use. */
import type { AgentActivity } from '../../../activity/activity.js';
import type { ConversationRequest } from '../../../core/conversation.js';
import type { Log } from '../../../observability/log.js';
import type { ModelRoute } from '../../../routing/model-router.js';
import type { OpenToolState, ToolRuntime } from '../../../tools/runtime/runtime.js';
import type { Engine, ModelRequest } from '../../engine.js';
import type { RunOnceLog } from '../run-once-log.js';
import type { Toolbox } from '../toolbox.js';
import type { UsageTally } from '../usage-tally.js';
import type { SystemPromptOptions } from './system-prompt.js';

export interface TurnParts {
  relay: Engine;
  runtime: ToolRuntime;
  log: Log;
  now: () => number;
  /** The route of another model that the caller may use; undefined where there is none. */
  routeOf(model: string): ModelRoute | undefined;
  call: ModelRequest;
  route: ModelRoute;
  request: ConversationRequest;
  session: OpenToolState;
  forkNumber: number;
  toolbox: Toolbox;
  tally: UsageTally;
  /** Of the main agent. */
  runOnce: RunOnceLog;
  signal: AbortSignal;
  notify(activity: AgentActivity): void;
}

export async function promptOptions(
  { runtime, log, now }: Pick<TurnParts, 'runtime' | 'log' | 'now'>,
  toolbox: Toolbox,
  place: { root: string; cwd: string; session: string; memoryDir?: string },
): Promise<SystemPromptOptions> {
  const { root, cwd, session, memoryDir } = place;
  const readable = await runtime.gate.readable({ root, cwd }, session);
  return {
    tools: toolbox.offer.tools,
    root,
    cwd,
    ...(memoryDir === undefined ? {} : { memoryDir }),
    now: now(),
    platform: process.platform,
    readable,
    onProblem: (tool, error) => log.warn({ err: error, tool }, 'a tool could not say how it is used'),
  };
}

/** Of the model request that made a tool call. */
export function toolOptions({
  request,
  session,
  forkNumber,
}: Pick<TurnParts, 'request' | 'session' | 'forkNumber'>) {
  const { model, thinking, effort } = request;
  return {
    commands: [],
    model,
    ...(thinking?.type === 'enabled' ? { thinkingBudget: thinking.budgetTokens } : {}),
    ...(effort === undefined ? {} : { effort }),
    forkNumber,
    logName: session.id,
  };
}
