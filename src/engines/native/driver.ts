/** The native agent: the gateway's own loop asks the model and runs the tools. */
import { type AgentActivityBody, notifierOf } from '../../activity/activity.js';
import type { Block, TextBlock, Usage } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import type { Loss } from '../../core/losses.js';
import type { Log } from '../../observability/log.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { OpenToolState, ToolRuntime } from '../../tools/runtime/runtime.js';
import type { Workspace } from '../../workspace/workspace.js';
import { AnswerAssembler, UsageTally } from '../agent/answer-assembler.js';
import type { AgentDriver, AskedModel, DriverTurn, OpeningTurn, StepsEnd } from '../agent/driver.js';
import { HeldToolStates, workspaceOf } from '../agent/held-tool-states.js';
import { LIMITS } from '../agent/limits.js';
import { AgentLoop, type LoopEnd } from '../agent/loop/agent-loop.js';
import { modePrompt } from '../agent/loop/mode-prompt.js';
import { ModelStep, stepRequest } from '../agent/loop/model-step.js';
import { runSubAgent, type TurnParts } from '../agent/loop/sub-agent.js';
import { promptOptions, systemPrompt } from '../agent/loop/system-prompt.js';
import { RunOnceLog } from '../agent/run-once-log.js';
import { ServerToolCalls, toolOptions } from '../agent/server-tool-calls.js';
import { settleBrokenTurn } from '../agent/settle-tool-calls.js';
import { mayStreamToolCalls, ToolCallStream } from '../agent/tool-call-stream.js';
import { type Toolbox, toolboxOf, withToolSearch } from '../agent/toolbox.js';
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

type TurnSources = NativeDriverOptions & { now: () => number };

export function createNativeDriver(options: NativeDriverOptions): AgentDriver {
  return new NativeDriver(options);
}

class NativeDriver implements AgentDriver {
  readonly name = 'native';
  readonly #options: TurnSources;
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
    const { runtime } = this.#options;
    const toolbox = withToolSearch(
      await toolboxOf(runtime, route, request.tools, call.principal.name),
      route.rule,
    );
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

  open(opening: OpeningTurn<Workspace>): Promise<DriverTurn> {
    return NativeTurn.open({ ...this.#options, ...opening, tools: this.#tools });
  }
}

interface NativeTurnOptions extends TurnSources, OpeningTurn<Workspace> {
  tools: HeldToolStates;
}

class NativeTurn implements DriverTurn {
  readonly losses: readonly Loss[];
  readonly shown: ToolCallStream;
  readonly #options: NativeTurnOptions;
  readonly #toolbox: Toolbox;
  readonly #toolState: OpenToolState;
  readonly #tally = new UsageTally();
  readonly #answer: AnswerAssembler;
  readonly #calls: ServerToolCalls;
  readonly #notify: (activity: AgentActivityBody) => void;
  readonly #loop: AgentLoop;

  /** Rejects before anything of the turn is under way. */
  static async open(options: NativeTurnOptions): Promise<NativeTurn> {
    const { call, route, turn, workspace, persistence, tools, runtime } = options;
    const toolbox = withToolSearch(
      await toolboxOf(runtime, route, turn.tools, call.principal.name, turn),
      route.rule,
    );
    const held = await tools.holdFor(turn, workspace);
    persistence.keepTools(held);
    const { cwd, memoryDir } = held.toolState;
    const folders = { root: turn.root, cwd, memoryDir, session: turn.id };
    const prompt = await promptOptions(options, toolbox, folders);
    const system = await systemPrompt(prompt, turn.system, route.rule.system ?? 'append');
    return new NativeTurn(options, toolbox, held.toolState, system);
  }

  private constructor(
    options: NativeTurnOptions,
    toolbox: Toolbox,
    toolState: OpenToolState,
    system: readonly TextBlock[],
  ) {
    const { call, route, turn, observe, persistence, signal } = options;
    const { request } = call;
    this.#options = options;
    this.#toolbox = toolbox;
    this.#toolState = toolState;
    this.#notify = notifierOf(observe, turn.id);
    this.losses = toolbox.losses ?? [];
    this.#answer = new AnswerAssembler(turn.spoken, call.clientDialect.name);
    this.shown = new ToolCallStream({
      isClients: (name) => toolbox.isClients(name),
      claimId: (id) => turn.claimId(id),
      single: request.parallelToolCalls === false,
    });
    this.#calls = this.#serverToolCalls();
    this.#loop = new AgentLoop({
      transcript: turn.transcript,
      model: this.#modelStep(system),
      request,
      toolbox,
      calls: this.#calls,
      tally: this.#tally,
      maxSteps: route.rule.maxSteps ?? LIMITS.maxSteps,
      signal,
      answer: this.#answer,
      claimId: (id) => turn.claimId(id),
      stream: mayStreamToolCalls(request) ? this.shown : undefined,
      notify: this.#notify,
      stepsBefore: turn.spoken.length,
      settle: () => this.#settle(),
      steering: () => turn.takeSteering(),
      save: (problems) => persistence.save(problems),
    });
  }

  get said(): readonly Block[] {
    return this.#answer.said;
  }

  get usage(): Usage {
    return this.#tally.total;
  }

  async begin(): Promise<AskedModel | undefined> {
    const opened = await this.#loop.begin();
    if (opened === undefined) return undefined;
    const { upstream, losses, promptTokens } = opened;
    return { upstream, losses, promptTokens };
  }

  steps(): AsyncGenerator<readonly ModelEvent[], StepsEnd, void> {
    return this.#loop.run();
  }

  completed(): void {}

  async close(): Promise<void> {}

  #modelStep(system: readonly TextBlock[]): ModelStep {
    const { relay, call, route, turn, signal, log, runtime } = this.#options;
    return new ModelStep({
      relay,
      call,
      route,
      request: call.request,
      system,
      told: async () => modePrompt(await runtime.gate.modeOf(turn.id)),
      toolbox: this.#toolbox,
      cacheKey: turn.id,
      signal,
      tally: this.#tally,
      notify: this.#notify,
      onProblem: (message, error) => log.warn({ err: error, id: call.id, session: turn.id }, message),
    });
  }

  #serverToolCalls(): ServerToolCalls {
    const { runtime, call, turn, signal, log, observe, routeOf } = this.#options;
    const parts: TurnParts = {
      ...this.#options,
      routeOf: (model) => routeOf?.(model, call.principal),
      request: call.request,
      toolState: this.#toolState,
      forkNumber: turn.forkNumber,
      toolbox: this.#toolbox,
      tally: this.#tally,
      runOnce: new RunOnceLog(turn),
      notify: observe,
    };
    return new ServerToolCalls({
      runtime,
      toolbox: this.#toolbox,
      toolState: this.#toolState,
      options: toolOptions(parts),
      signal,
      runAgent: (task) => runSubAgent(parts, task),
      runOnce: parts.runOnce,
      notify: this.#notify,
      onBug: (error) => log.error({ err: error, id: call.id, session: turn.id }, 'bug while tools ran'),
    });
  }

  /** Does what a broken turn has left undone. */
  async #settle(): Promise<LoopEnd | undefined> {
    const { turn, persistence, signal } = this.#options;
    const { outstanding, transcript } = turn;
    if (outstanding === undefined) return undefined;
    const notify = this.#notify;
    return settleBrokenTurn(
      {
        outstanding,
        turn,
        isClients: ({ name }) => this.#toolbox.isClients(name),
        problems: persistence.problems,
        run: (calls) => this.#calls.run(calls, undefined),
        notify,
      },
      { transcript, save: () => persistence.save(), notify },
      signal,
    );
  }
}
