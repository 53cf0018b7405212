/** Everything of one turn, put together: its model, its tools, its loop, and what keeps it. */
import { type AgentObserver, notifierOf, safeObserver } from '../../activity/activity.js';
import type { Loss } from '../../core/losses.js';
import type { Turn } from '../../sessions/sessions.js';
import type { Workspace } from '../../workspace/workspace.js';
import { spokenIn } from '../agent/answers.js';
import type { HeldToolState, HeldToolStates } from '../agent/held-tool-states.js';
import { LIMITS } from '../agent/limits.js';
import { AgentLoop } from '../agent/loop/agent-loop.js';
import { ModelStep } from '../agent/loop/model-step.js';
import { systemPrompt } from '../agent/loop/prompt/system-prompt.js';
import { runSubAgent } from '../agent/loop/sub-agent.js';
import { promptOptions, type TurnParts, toolOptions } from '../agent/loop/turn-parts.js';
import { RunOnceLog } from '../agent/run-once-log.js';
import { ServerToolCalls } from '../agent/server-tool-calls.js';
import { settleToolCalls } from '../agent/settle-tool-calls.js';
import { mayStreamToolCalls, ToolCallStream } from '../agent/tool-call-stream.js';
import { TurnPersistence } from '../agent/turn-persistence.js';
import { decodeTurnState } from '../agent/turn-state.js';
import { UsageTally } from '../agent/usage-tally.js';

export interface NativeTurnOptions
  extends Pick<
    TurnParts,
    'relay' | 'runtime' | 'log' | 'now' | 'routeOf' | 'call' | 'route' | 'toolbox' | 'signal'
  > {
  workspace: Workspace;
  turn: Turn;
  tools: HeldToolStates;
  observe: AgentObserver;
}

export interface NativeTurn {
  turn: Turn;
  loop: AgentLoop;
  shown: ToolCallStream;
  keeper: TurnPersistence;
  tally: UsageTally;
  /** Of the request's tools. */
  losses: readonly Loss[];
}

/** The caller ends the turn with the keeper, and lets the tools go with it. */
export async function openNativeTurn(options: NativeTurnOptions): Promise<NativeTurn> {
  const { turn, workspace, tools } = options;
  const { id, principal, user, before } = turn;
  const restore = decodeTurnState(turn).tools;
  const held = await tools.hold({ id, principal, user, workspace, restore, before });
  try {
    return await assemble(options, held);
  } catch (error) {
    held.release(turn.steps());
    throw error;
  }
}

async function assemble(options: NativeTurnOptions, held: HeldToolState): Promise<NativeTurn> {
  const { turn, call, route, toolbox, log, signal, relay, runtime } = options;
  const { request } = call;
  const { outstanding } = turn;
  const ledger = new RunOnceLog(turn);
  const tally = new UsageTally();
  const parts: TurnParts = {
    ...options,
    request,
    session: held.session,
    forkNumber: turn.forkNumber,
    tally,
    ledger,
    notify: safeObserver(options.observe, log),
  };
  const notify = notifierOf(parts.notify, turn.id);
  const names = { id: call.id, session: turn.id };
  const { cwd, memoryDir } = held.session;
  const place = { root: turn.root, cwd, memoryDir, session: turn.id };
  const model = new ModelStep({
    relay,
    call,
    route,
    request,
    system: await systemPrompt(
      await promptOptions(parts, toolbox, place),
      turn.system,
      route.rule.system ?? 'append',
    ),
    toolbox,
    cacheKey: turn.id,
    signal,
    tally,
    notify,
    onProblem: (message, error) => log.warn({ err: error, ...names }, message),
  });
  const calls = new ServerToolCalls({
    runtime,
    toolbox,
    session: held.session,
    options: toolOptions(parts),
    signal,
    runAgent: (task) => runSubAgent(parts, task),
    ledger,
    notify,
    onBug: (error) => log.error({ err: error, ...names }, 'bug while tools ran'),
  });
  // That wire has one text for the whole answer.
  const textSeparator = call.clientDialect.name === 'openai-chat' ? '\n\n' : '';
  const keeper = new TurnPersistence({
    turn,
    tools: held,
    onProblem: (error) => log.warn({ err: error, ...names }, 'a turn could not be given up cleanly'),
  });
  const shown = new ToolCallStream({
    isClients: (name) => toolbox.isClients(name),
    claimId: (callId) => turn.claimId(callId),
    single: request.parallelToolCalls === false,
  });
  const loop = new AgentLoop({
    transcript: turn.transcript,
    model,
    modelName: request.model,
    toolbox,
    calls,
    tally,
    maxTurns: route.rule.maxTurns ?? LIMITS.maxTurns,
    toolChoice: request.toolChoice,
    signal,
    textSeparator,
    claimId: (callId) => turn.claimId(callId),
    stream: mayStreamToolCalls(request) ? shown : undefined,
    notify,
    before: {
      said: spokenIn(turn.spoken, textSeparator),
      turns: turn.spoken.length,
      outstanding: outstanding && {
        calls: outstanding.calls,
        settle: () =>
          settleToolCalls({
            outstanding,
            turn,
            isClients: ({ name }) => toolbox.isClients(name),
            problems: keeper.problems,
            run: (each) => calls.run(each, undefined),
            notify,
          }),
      },
    },
    save: (problems) => {
      keeper.setProblems(problems);
      return keeper.save();
    },
  });
  return { turn, loop, shown, keeper, tally, losses: toolbox.losses ?? [] };
}
