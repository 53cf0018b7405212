/** Claude Code as an engine: attaches a request to its conversation and answers it with a process. */
import type { ToolDefinition } from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { TurnEvent } from '../../core/events.js';
import type { Log } from '../../observability/log.js';
import type { Route } from '../../routing/router.js';
import type { AttachRequest, Sessions, SessionTurn } from '../../sessions/sessions.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import { openWorkspace, type Workspace } from '../../workspace/workspace.js';
import { OWN_ANSWER, SESSION_HEADER, sessionHeaders } from '../agent/answers.js';
import { attachTurn } from '../agent/attach-turn.js';
import { eventsOfCall, stopEvent } from '../agent/block-events.js';
import { LIMITS } from '../agent/limits.js';
import { type AnswerHead, type RunningTurn, RunningTurns } from '../agent/running-turns.js';
import { ToolSessions } from '../agent/tool-sessions.js';
import { openToolbox, type Toolbox } from '../agent/toolbox.js';
import type { Answer, Call, Engine } from '../engine.js';
import type { PrivateKeys } from '../private-keys.js';
import { processBudget } from './budget.js';
import type { ClaudeProcesses } from './claude-processes.js';
import { ClaudeTurn, type TurnEnd } from './claude-turn.js';
import { PATIENCE, type Patience } from './limits.js';
import { LiveConversations } from './live-conversations.js';
import type { ModelHopOptions } from './model-hop.js';
import { lostWishes } from './request-shape.js';

export interface ClaudeCodeEngineOptions {
  relay: ModelHopOptions['relay'];
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
  pingMs?: number;
  patience?: Partial<Patience>;
}

export interface ClaudeCodeEngine extends Engine {
  /** Without Claude Code's own prompt, which only it knows. */
  countTokens(call: Call, route: Route): Promise<number>;
  /** Stops the turns that still run, and ends every process. */
  close(): Promise<void>;
}

export function createClaudeCodeEngine(options: ClaudeCodeEngineOptions): ClaudeCodeEngine {
  return new ProcessEngine(options);
}

class ProcessEngine implements ClaudeCodeEngine {
  readonly #options: ClaudeCodeEngineOptions;
  readonly #turns = new RunningTurns();
  readonly #tools: ToolSessions;
  readonly #live: LiveConversations;

  constructor(options: ClaudeCodeEngineOptions) {
    const { runtime, sessions, log, maxLive } = options;
    this.#options = options;
    this.#live = new LiveConversations({ sessions, max: processBudget(maxLive).conversations, log });
    this.#tools = new ToolSessions({
      runtime,
      sessions,
      onProblem: (error) => log.warn({ err: error }, 'the tools of a session could not be closed'),
    });
  }

  async run(call: Call, route: Route): Promise<Answer> {
    checkContinues(call);
    const { sessions, pingMs = LIMITS.pingMs } = this.#options;
    const workspace = this.#workspace(route);
    let claude: ClaudeTurn | undefined;
    const attached = await attachTurn({
      sessions,
      turns: this.#turns,
      call,
      request: attachRequest(call, workspace),
      pingMs,
      onEnd: async (turn) => {
        await claude?.close();
        await (claude === undefined ? this.#abandon(turn) : claude.keeper.abandon());
      },
    });
    if (attached.kind === 'answer') return attached.answer;
    const { turn, running } = attached;
    try {
      claude = await this.#open(call, route, workspace, turn, running);
      const source = this.#answer(call, claude);
      // While nothing is out, an error is the status of the answer.
      const first = await source.next();
      return running.begin(headOf(claude, call), resumed(first, source));
    } catch (error) {
      const failure = this.#failure(turn, error);
      await claude?.close();
      await (claude === undefined ? this.#discard(turn) : claude.keeper.discard());
      await running.fail(failure);
      throw failure;
    }
  }

  async countTokens(call: Call, route: Route): Promise<number> {
    const { request } = call;
    const toolbox = await this.#toolbox(route, request.tools);
    const counted = { ...request, tools: [...toolbox.definitions] };
    return this.#options.relay.countTokens({ ...call, request: counted }, route);
  }

  async close(): Promise<void> {
    await this.#turns.close();
    await this.#live.close();
    await this.#options.processes.close();
    await this.#tools.close();
  }

  #workspace({ rule, pattern }: Route): Workspace {
    try {
      return openWorkspace(rule.cwd ?? this.#options.startDir, this.#options.home);
    } catch (error) {
      const { message } = toGatewayError(error);
      // The client can do nothing about it.
      throw new GatewayError('unavailable', `The model ${pattern} has no folder to work in: ${message}`, {
        cause: error,
      });
    }
  }

  #toolbox({ rule }: Route, clientTools: readonly ToolDefinition[], session?: string): Promise<Toolbox> {
    const request = {
      selection: rule.tools ?? 'all',
      requested: clientTools.map(({ name }) => name),
      ...(session === undefined ? {} : { session }),
    };
    return openToolbox(this.#options.runtime, request, clientTools);
  }

  async #open(
    call: Call,
    route: Route,
    workspace: Workspace,
    turn: SessionTurn,
    running: RunningTurn,
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
      toolbox: await this.#toolbox(route, turn.tools, turn.id),
      baseUrl: await selfUrl(),
      walled,
      patience: { ...PATIENCE, ...this.#options.patience },
      signal: AbortSignal.any([running.signal, turn.signal]),
      observe: running.observe,
    });
  }

  /** The events of the answer; the turn is kept before its last event is out. Rejects while nothing was said. */
  async *#answer(call: Call, claude: ClaudeTurn): AsyncGenerator<readonly TurnEvent[], void, void> {
    const { log } = this.#options;
    const { keeper, turn, tally } = claude;
    let begun = false;
    let last: readonly TurnEvent[] = [];
    try {
      let end: TurnEnd;
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
        last = await this.#complete(call, claude, end);
        if (end.kind === 'failed') failure = end.error;
        else if (end.kind === 'aborted' && turn.signal.aborted) failure = this.#failure(turn, undefined);
      } catch (error) {
        if (!(error instanceof GatewayError)) {
          log.error({ err: error, id: call.id, session: turn.id }, 'bug in the agent');
        }
        failure = toGatewayError(error);
      }
      if (failure !== undefined) {
        if (!begun) throw failure;
        await claude.close();
        // Before the client hears of it: it may send the same again at once.
        await keeper.abandon();
        last = [{ type: 'error', error: this.#failure(turn, failure) }];
      }
      if (last.length > 0) yield [{ type: 'usage', usage: tally.total }, ...last];
    } finally {
      await claude.close();
    }
  }

  /** Returns how the answer ends. Rejects as the session does. */
  async #complete(call: Call, claude: ClaudeTurn, end: TurnEnd): Promise<TurnEvent[]> {
    const { keeper, said: blocks, turn } = claude;
    switch (end.kind) {
      case 'handed-back': {
        const { calls, open, results } = end;
        const told = call.request.parallelToolCalls === false ? open.slice(0, 1) : open;
        await keeper.complete({
          answer: { blocks: [...blocks, ...told], reason: 'tool_use' },
          handedBack: { calls, open, results },
        });
        claude.rest();
        return [...told.flatMap(eventsOfCall), stopEvent('tool_use')];
      }
      case 'max-turns': {
        const note = `paused after ${end.turns} model calls (max_turns)`;
        this.#options.log.info({ id: call.id, session: turn.id, turns: end.turns }, note);
        await keeper.complete({ answer: { blocks, reason: 'pause_turn' } });
        return [{ type: 'loss', path: 'stop_reason', reason: note }, stopEvent('pause_turn')];
      }
      case 'done': {
        const { reason, stopSequence } = end;
        const sequence = stopSequence === undefined ? {} : { stopSequence };
        await keeper.complete({ answer: { blocks, reason, ...sequence } });
        if (end.alive) claude.rest();
        return [stopEvent(reason, stopSequence)];
      }
      default:
        return [];
    }
  }

  /** Where the session was taken away, that is why, whatever came of it. */
  #failure(turn: SessionTurn, error: unknown): GatewayError {
    if (!turn.signal.aborted) return toGatewayError(error);
    const { reason } = turn.signal;
    if (reason instanceof GatewayError) return reason;
    return new GatewayError(
      'conflict',
      `The session ${turn.id} was deleted or taken over while this request was being answered. Send the conversation without X-Session-ID to go on.`,
      { cause: error },
    );
  }

  async #abandon(turn: SessionTurn): Promise<void> {
    await turn.abandon().catch((error: unknown) => this.#warn(turn, error));
  }

  async #discard(turn: SessionTurn): Promise<void> {
    await turn.discard().catch((error: unknown) => this.#warn(turn, error));
  }

  #warn(turn: SessionTurn, error: unknown): void {
    this.#options.log.warn({ err: error, session: turn.id }, 'a turn could not be given up cleanly');
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

function attachRequest(
  { headers, idempotencyKey, principal, request }: Call,
  { root }: Workspace,
): AttachRequest {
  return {
    principal: principal.name,
    id: headers[SESSION_HEADER] || undefined,
    idempotencyKey,
    engine: 'claude-code',
    model: request.model,
    root,
    request,
  };
}

function headOf({ turn, opened }: ClaudeTurn, { request }: Call): AnswerHead {
  const headers = sessionHeaders(turn.id, turn.how);
  const lost = [...turn.losses, ...lostWishes(request)];
  if (opened === undefined) return { upstream: OWN_ANSWER, losses: lost, headers, promptTokens: 0 };
  const { upstream, losses, promptTokens } = opened;
  return {
    upstream,
    losses: [...lost, ...losses],
    headers,
    ...(promptTokens === undefined ? {} : { promptTokens }),
  };
}

/** What only an upstream keeps, an agent cannot go on with. */
function checkContinues({ request: { continues } }: Call): void {
  if (continues === undefined) return;
  throw new GatewayError(
    'not_found',
    `Nothing is known here of ${JSON.stringify(continues.id.slice(0, 100))}, which the request goes on from. Send the whole conversation, or X-Session-ID.`,
    { param: 'previous_response_id', detail: 'previous_response_not_found' },
  );
}
