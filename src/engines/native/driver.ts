/** The native agent: the gateway's own loop asks the model and runs the tools. */
import { notifierOf } from '../../activity/activity.js';
import type { Log } from '../../observability/log.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import type { Workspace } from '../../workspace/workspace.js';
import { AnswerAssembler, UsageTally } from '../agent/answer-assembler.js';
import type { AgentDriver, DriverTurn, OpeningTurn } from '../agent/driver.js';
import { HeldToolStates, workspaceOf } from '../agent/held-tool-states.js';
import { LIMITS } from '../agent/limits.js';
import { AgentLoop } from '../agent/loop/agent-loop.js';
import { ModelStep, stepRequest } from '../agent/loop/model-step.js';
import { runSubAgent, type TurnParts } from '../agent/loop/sub-agent.js';
import { promptOptions, systemPrompt } from '../agent/loop/system-prompt.js';
import type { CollectedToolCall } from '../agent/message-collector.js';
import { RunOnceLog, ServerToolCalls, toolOptions } from '../agent/server-tool-calls.js';
import { settleBrokenTurn } from '../agent/settle-tool-calls.js';
import { mayStreamToolCalls, ToolCallStream } from '../agent/tool-call-stream.js';
import { toolboxOf } from '../agent/toolbox.js';
import type { CountingEngine, ModelRequest, Principal } from '../engine.js';

export interface NativeDriverOptions {
  relay: CountingEngine;
  runtime: ToolRuntime;
  log: Log;
  /** The folder of a model whose entry names none. */
  startDir: string;
  home: string;
  /** Who answers a model name for this caller; undefined where it may not call it, or there is no such model. */
  routeOf?: (model: string, principal: Principal) => ModelRoute | undefined;
  sessions: Pick<Sessions, 'subscribe'>;
  now?: () => number;
}

export function createNativeDriver(options: NativeDriverOptions): AgentDriver {
  return new NativeDriver(options);
}

class NativeDriver implements AgentDriver {
  readonly name = 'native';
  readonly #options: NativeDriverOptions & { now: () => number };
  readonly #tools: HeldToolStates;

  constructor(options: NativeDriverOptions) {
    this.#options = { ...options, now: options.now ?? Date.now };
    const { runtime, sessions, log } = options;
    this.#tools = new HeldToolStates({
      runtime,
      sessions,
      onProblem: (error) => log.warn({ err: error }, 'the tools of a session could not be closed'),
    });
  }

  workspaceOf(route: ModelRoute): Workspace {
    return workspaceOf(route, this.#options);
  }

  /** As the first model request would have it. */
  async countTokens(call: ModelRequest, route: ModelRoute): Promise<number> {
    const { request } = call;
    const { root } = this.workspaceOf(route);
    const toolbox = await toolboxOf(this.#options.runtime, route, request.tools, call.principal.name);
    const prompt = await promptOptions(this.#options, toolbox, { root, cwd: root, session: call.id });
    const counted = stepRequest(request, {
      system: await systemPrompt(prompt, request.system, route.rule.system ?? 'append'),
      messages: request.messages,
      tools: toolbox.definitions,
      cacheKey: call.id,
    });
    return this.#options.relay.countTokens({ ...call, request: counted }, route);
  }

  close(): Promise<void> {
    return this.#tools.close();
  }

  async open(opening: OpeningTurn<Workspace>): Promise<DriverTurn> {
    const { call, route, turn, workspace, persistence, signal, observe } = opening;
    const { relay, runtime, log, routeOf } = this.#options;
    const { request } = call;
    const toolbox = await toolboxOf(runtime, route, turn.tools, call.principal.name, turn);
    const held = await this.#tools.holdFor(turn, workspace);
    persistence.keepTools(held);
    const tally = new UsageTally();
    const runOnce = new RunOnceLog(turn);
    const parts: TurnParts = {
      ...this.#options,
      routeOf: (model) => routeOf?.(model, call.principal),
      call,
      route,
      request,
      toolState: held.toolState,
      forkNumber: turn.forkNumber,
      toolbox,
      tally,
      runOnce,
      signal,
      notify: observe,
    };
    const notify = notifierOf(observe, turn.id);
    const names = { id: call.id, session: turn.id };
    const { cwd, memoryDir } = held.toolState;
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
      toolState: held.toolState,
      options: toolOptions(parts),
      signal,
      runAgent: (task) => runSubAgent(parts, task),
      runOnce,
      notify,
      onBug: (error) => log.error({ err: error, ...names }, 'bug while tools ran'),
    });
    const shown = new ToolCallStream({
      isClients: (name) => toolbox.isClients(name),
      claimId: (callId) => turn.claimId(callId),
      single: request.parallelToolCalls === false,
    });
    const { transcript, outstanding } = turn;
    const save = (problems?: ReadonlyMap<string, string>) => persistence.save(problems);
    const isClients = ({ name }: { name: string }) => toolbox.isClients(name);
    const answer = new AnswerAssembler(turn.spoken, call.clientDialect.name);
    const loop = new AgentLoop({
      transcript,
      model,
      request,
      toolbox,
      calls,
      tally,
      maxSteps: route.rule.maxSteps ?? LIMITS.maxSteps,
      signal,
      answer,
      claimId: (callId) => turn.claimId(callId),
      stream: mayStreamToolCalls(request) ? shown : undefined,
      notify,
      stepsBefore: turn.spoken.length,
      settle: async () => {
        if (outstanding === undefined) return undefined;
        const { problems } = persistence;
        const step = { transcript, save, notify };
        const run = (each: readonly CollectedToolCall[]) => calls.run(each, undefined);
        return settleBrokenTurn({ outstanding, turn, isClients, problems, run, notify }, step, signal);
      },
      save,
    });
    return {
      losses: toolbox.losses ?? [],
      said: answer.said,
      get usage() {
        return tally.total;
      },
      shown,
      async begin() {
        const opened = await loop.begin();
        if (opened === undefined) return undefined;
        const { upstream, losses, promptTokens } = opened;
        return { upstream, losses, promptTokens };
      },
      steps: () => loop.run(),
      completed: () => {},
      close: async () => {},
    };
  }
}
