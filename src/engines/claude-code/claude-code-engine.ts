/** Claude Code as an engine: attaches a request to its conversation and answers it with a process. */
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
import { TurnReporter } from '../agent/report/turn-reporter.js';
import { answerHead, completeTurn, giveUp, turnFailure } from '../agent/turn-end.js';
import { checkDemands } from '../demands.js';
import type { Answer, Engine, ModelRequest } from '../engine.js';
import type { PrivateKeys } from '../private-keys.js';
import { ClaudeTurn } from './claude-turn.js';
import { LiveConversations } from './conversation/live-conversations.js';
import { PATIENCE, type Patience } from './limits.js';
import type { ModelProxyOptions } from './model-proxy/model-proxy.js';
import { lostWishes } from './model-proxy/request-shape.js';
import { processBudget } from './processes/budget.js';
import type { ClaudeProcesses } from './processes/claude-processes.js';
import type { RunEnd } from './turn-run.js';

export interface ClaudeCodeEngineOptions {
  relay: ModelProxyOptions['relay'];
  runtime: ToolRuntime;
  /** The engine closes them. */
  processes: ClaudeProcesses;
  /** Where the server finds whose model calls are its own. */
  keys: PrivateKeys;
  /** The gateway's own address, once it listens. */
  selfUrl: () => Promise<string>;
  log: Log;
  /** The folder of a model whose entry names none. */
  startDir: string;
  home: string;
  /** The caller closes them, after the engine. */
  sessions: Sessions;
  /** Processes at once, spares included. */
  maxLive: number;
  /** There is a sandbox, or there has to be one: commands are the gateway's to run, and Claude Code's own Bash is off. */
  walled: boolean;
  /** Told of every turn. */
  watcher?: TurnObserver | undefined;
  pingMs?: number;
  patience?: Partial<Patience>;
}

export interface ClaudeCodeEngine extends Engine {
  /** Without Claude Code's own prompt, which only it knows. */
  countTokens(call: ModelRequest, route: ModelRoute): Promise<number>;
  /** Stops the turns that still run, and ends every process. */
  close(): Promise<void>;
}

export function createClaudeCodeEngine(options: ClaudeCodeEngineOptions): ClaudeCodeEngine {
  return new ProcessEngine(options);
}

class ProcessEngine implements ClaudeCodeEngine {
  readonly #options: ClaudeCodeEngineOptions;
  readonly #turns = new LiveTurns();
  readonly #tools: HeldToolStates;
  readonly #live: LiveConversations;
  #closing = false;

  constructor(options: ClaudeCodeEngineOptions) {
    const { runtime, sessions, log, maxLive } = options;
    this.#options = options;
    this.#live = new LiveConversations({ sessions, max: processBudget(maxLive).conversations, log });
    this.#tools = new HeldToolStates({
      runtime,
      sessions,
      onProblem: (error) => log.warn({ err: error }, 'the tools of a session could not be closed'),
    });
  }

  async run(call: ModelRequest, route: ModelRoute): Promise<Answer> {
    checkDemands(call.request, 'claude-code');
    const { sessions, pingMs = LIMITS.pingMs } = this.#options;
    const workspace = workspaceOf(route, this.#options);
    let claude: ClaudeTurn | undefined;
    let telling: TurnReporter | undefined;
    const attached = await attachTurn({
      sessions,
      turns: this.#turns,
      call,
      request: attachRequest(call, 'claude-code', workspace.root),
      pingMs,
      onEnd: async (turn) => {
        telling?.over();
        await claude?.close();
        await (claude === undefined ? giveUp(turn, 'abandon', this.#options.log) : claude.keeper.abandon());
      },
    });
    if (attached.kind === 'answer') return attached.answer;
    const { turn, running } = attached;
    telling = this.#telling(call, turn, running);
    try {
      claude = await this.#open(call, route, workspace, { turn, running, observe: telling.observe });
      const source = this.#answer(call, claude, telling);
      // While nothing is out, an error is the status of the answer.
      const first = await source.next();
      return running.begin(
        answerHead(turn, [...turn.losses, ...claude.losses, ...lostWishes(call.request)], claude.opened),
        resumed(first, source),
      );
    } catch (error) {
      const failure = turnFailure(turn, error);
      telling.failed(failure);
      await claude?.close();
      await (claude === undefined ? giveUp(turn, 'discard', this.#options.log) : claude.keeper.discard());
      await running.fail(failure);
      throw failure;
    }
  }

  async countTokens(call: ModelRequest, route: ModelRoute): Promise<number> {
    const { request } = call;
    const toolbox = await toolboxOf(this.#options.runtime, route, request.tools, call.principal.name);
    const counted = { ...request, tools: [...toolbox.definitions] };
    return this.#options.relay.countTokens({ ...call, request: counted }, route);
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#turns.close();
    await this.#live.close();
    await this.#options.processes.close();
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
  ): Promise<ClaudeTurn> {
    const { processes, keys, relay, runtime, log, selfUrl, walled } = this.#options;
    return ClaudeTurn.open({
      processes,
      keys,
      relay,
      runtime,
      log,
      live: this.#live,
      tools: this.#tools,
      call,
      route,
      workspace,
      turn,
      toolbox: await toolboxOf(runtime, route, turn.tools, call.principal.name, turn),
      baseUrl: await selfUrl(),
      walled,
      patience: { ...PATIENCE, ...this.#options.patience },
      signal: AbortSignal.any([running.signal, turn.signal]),
      observe,
    });
  }

  /** The events of the answer; the turn is kept before its last event is out. Rejects while nothing was said. */
  async *#answer(
    call: ModelRequest,
    claude: ClaudeTurn,
    telling: TurnReporter,
  ): AsyncGenerator<readonly ModelEvent[], void, void> {
    const { log } = this.#options;
    const { keeper, turn, tally, shown } = claude;
    let begun = false;
    let last: readonly ModelEvent[] = [];
    try {
      let end: RunEnd;
      let failure: GatewayError | undefined;
      try {
        const events = claude.events();
        for (;;) {
          const step = await events.next();
          if (step.done === true) {
            end = step.value;
            break;
          }
          begun = true;
          yield step.value;
        }
        last = await completeTurn({ call, turn, keeper, said: claude.said, shown, log }, end);
        if (end.kind !== 'failed' && end.kind !== 'aborted') telling.answered(end);
        if ((end.kind === 'handed-back' || end.kind === 'done') && end.alive) claude.rest();
        if (end.kind === 'failed') failure = end.error;
        else if (end.kind === 'aborted' && turn.signal.aborted) failure = turnFailure(turn, undefined);
      } catch (error) {
        if (!(error instanceof GatewayError)) {
          log.error({ err: error, id: call.id, session: turn.id }, 'bug in the agent');
        }
        failure = toGatewayError(error);
      }
      if (failure !== undefined) {
        if (!begun) throw failure;
        telling.failed(turnFailure(turn, failure));
        await claude.close();
        // Before the client hears of it: it may send the same again at once.
        await keeper.abandon();
        last = [{ type: 'error', error: turnFailure(turn, failure) }];
      }
      if (last.length > 0) yield [{ type: 'usage', usage: tally.total }, ...last];
    } finally {
      await claude.close();
    }
  }
}

async function* resumed<T>(
  first: IteratorResult<T, void>,
  rest: AsyncGenerator<T, void, void>,
): AsyncGenerator<T, void, void> {
  try {
    if (first.done === true) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}
