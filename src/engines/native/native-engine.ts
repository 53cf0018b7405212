/** The native agent as an engine: attaches a request to its conversation and answers it with a loop. */
import type { AgentObserver, TurnObserver } from '../../activity/activity.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import type { Log } from '../../observability/log.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { Sessions, Turn } from '../../sessions/sessions.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import type { Workspace } from '../../workspace/workspace.js';
import { attachRequest, toolboxOf, workspaceOf } from '../agent/agent-request.js';
import { attachTurn } from '../agent/attach-turn.js';
import { HeldToolStates } from '../agent/held-tool-states.js';
import { LIMITS } from '../agent/limits.js';
import { type LiveTurn, LiveTurns } from '../agent/live/live-turns.js';
import type { LoopEnd } from '../agent/loop/agent-loop.js';
import { systemPrompt } from '../agent/loop/prompt/system-prompt.js';
import { stepRequest } from '../agent/loop/step-request.js';
import { promptOptions } from '../agent/loop/turn-parts.js';
import { TurnReporter } from '../agent/report/turn-reporter.js';
import { answerHead, completeTurn, giveUp, turnFailure } from '../agent/turn-end.js';
import type { TurnPersistence } from '../agent/turn-persistence.js';
import { checkDemands } from '../demands.js';
import type { Answer, Engine, ModelRequest, Principal } from '../engine.js';
import { type NativeTurn, openNativeTurn } from './native-turn.js';

export interface NativeEngineOptions {
  relay: Engine & { countTokens(call: ModelRequest, route: ModelRoute): Promise<number> };
  runtime: ToolRuntime;
  log: Log;
  /** The folder of a model whose entry names none. */
  startDir: string;
  home: string;
  /** Who answers a model name for this caller; undefined where it may not, or nobody does. */
  routeOf?: (model: string, principal: Principal) => ModelRoute | undefined;
  /** The caller closes them, after the engine. */
  sessions: Sessions;
  /** Conversations whose tools stay awake between two turns. */
  maxToolSessions?: number;
  /** Told of every turn. */
  watcher?: TurnObserver | undefined;
  now?: () => number;
  pingMs?: number;
}

export interface NativeEngine extends Engine {
  /** With the agent's own prompt and tools, as the first model call would have them. */
  countTokens(call: ModelRequest, route: ModelRoute): Promise<number>;
  /** Stops the turns that still run and ends what tools keep between turns. */
  close(): Promise<void>;
}

export function createNativeEngine(options: NativeEngineOptions): NativeEngine {
  return new LoopEngine(options);
}

class LoopEngine implements NativeEngine {
  readonly #options: NativeEngineOptions & { now: () => number };
  readonly #turns = new LiveTurns();
  readonly #tools: HeldToolStates;
  #closing = false;

  constructor(options: NativeEngineOptions) {
    this.#options = { ...options, now: options.now ?? Date.now };
    const { runtime, sessions, log, maxToolSessions } = options;
    this.#tools = new HeldToolStates({
      runtime,
      sessions,
      ...(maxToolSessions === undefined ? {} : { max: maxToolSessions }),
      onProblem: (error) => log.warn({ err: error }, 'the tools of a session could not be closed'),
    });
  }

  async run(call: ModelRequest, route: ModelRoute): Promise<Answer> {
    checkDemands(call.request, 'native');
    const { sessions, pingMs = LIMITS.pingMs } = this.#options;
    const workspace = workspaceOf(route, this.#options);
    let keeper: TurnPersistence | undefined;
    let telling: TurnReporter | undefined;
    const attached = await attachTurn({
      sessions,
      turns: this.#turns,
      call,
      request: attachRequest(call, 'native', workspace.root),
      pingMs,
      onEnd: async (turn) => {
        telling?.over();
        await (keeper === undefined ? giveUp(turn, 'abandon', this.#options.log) : keeper.abandon());
        keeper?.release();
      },
    });
    if (attached.kind === 'answer') return attached.answer;
    const { turn, running } = attached;
    telling = this.#telling(call, turn, running);
    try {
      const native = await this.#open(call, route, workspace, { turn, running, observe: telling.observe });
      keeper = native.keeper;
      const opened = await native.loop.begin();
      return running.begin(
        answerHead(turn, [...turn.losses, ...native.losses], opened),
        this.#answer(call, native, telling),
      );
    } catch (error) {
      const failure = turnFailure(turn, error);
      telling.failed(failure);
      await (keeper === undefined ? giveUp(turn, 'discard', this.#options.log) : keeper.discard());
      await running.fail(failure);
      throw failure;
    }
  }

  async countTokens(call: ModelRequest, route: ModelRoute): Promise<number> {
    const { request } = call;
    const { root } = workspaceOf(route, this.#options);
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

  async close(): Promise<void> {
    this.#closing = true;
    await this.#turns.close();
    await this.#tools.close();
  }

  #telling(call: ModelRequest, turn: Turn, { observe }: LiveTurn): TurnReporter {
    const { watcher, log } = this.#options;
    return new TurnReporter({ watcher, call, turn, observe, isClosing: () => this.#closing, log });
  }

  async #open(
    call: ModelRequest,
    route: ModelRoute,
    workspace: Workspace,
    { turn, running, observe }: { turn: Turn; running: LiveTurn; observe: AgentObserver },
  ): Promise<NativeTurn> {
    const { relay, runtime, log, now, routeOf } = this.#options;
    return openNativeTurn({
      relay,
      runtime,
      log,
      now,
      routeOf: (model) => routeOf?.(model, call.principal),
      call,
      route,
      workspace,
      turn,
      tools: this.#tools,
      toolbox: await toolboxOf(runtime, route, turn.tools, call.principal.name, turn),
      signal: AbortSignal.any([running.signal, turn.signal]),
      observe,
    });
  }

  /** The events of the answer; the turn is kept before its last event is out. */
  async *#answer(
    call: ModelRequest,
    native: NativeTurn,
    telling: TurnReporter,
  ): AsyncGenerator<readonly ModelEvent[], void, void> {
    const { loop, shown, keeper, turn, tally } = native;
    const { log } = this.#options;
    let end: LoopEnd;
    let last: readonly ModelEvent[] = [];
    try {
      end = yield* loop.run();
      last = await completeTurn({ call, turn, keeper, said: loop.said, shown, log }, end);
      if (end.kind !== 'failed' && end.kind !== 'aborted') telling.answered(end);
    } catch (error) {
      if (!(error instanceof GatewayError)) {
        log.error({ err: error, id: call.id, session: turn.id }, 'bug in the agent');
      }
      end = { kind: 'failed', error: toGatewayError(error) };
    }
    const usage: ModelEvent = { type: 'usage', usage: tally.total };
    if (end.kind === 'failed' || (end.kind === 'aborted' && turn.signal.aborted)) {
      const error = turnFailure(turn, end.kind === 'failed' ? end.error : undefined);
      telling.failed(error);
      // Before the client hears of it: it may send the same again at once.
      await keeper.abandon();
      last = [{ type: 'error', error }];
    }
    if (last.length > 0) yield [usage, ...last];
  }
}
