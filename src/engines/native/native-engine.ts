/** The native agent as an engine: attaches a request to its conversation and answers it with a loop. */
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
import type { TurnKeeper } from '../agent/turn-keeper.js';
import type { Answer, Call, Engine, Principal } from '../engine.js';
import type { LoopEnd } from './agent-loop.js';
import type { OpenModelCall } from './model-caller.js';
import { modelRequest } from './model-request.js';
import { type NativeTurn, openNativeTurn } from './native-turn.js';
import { systemPrompt } from './prompt/system-prompt.js';
import { promptOptions } from './turn.js';

export interface NativeEngineOptions {
  relay: Engine & { countTokens(call: Call, route: Route): Promise<number> };
  runtime: ToolRuntime;
  log: Log;
  /** The folder of a model whose entry names none. */
  startDir: string;
  home: string;
  /** Who answers a model name for this caller; undefined where it may not, or nobody does. */
  routeOf?: (model: string, principal: Principal) => Route | undefined;
  /** The caller closes them, after the engine. */
  sessions: Sessions;
  /** Conversations whose tools stay awake between two turns. */
  maxToolSessions?: number;
  now?: () => number;
  pingMs?: number;
}

export interface NativeEngine extends Engine {
  /** With the agent's own prompt and tools, as the first model call would have them. */
  countTokens(call: Call, route: Route): Promise<number>;
  /** Stops the turns that still run and ends what tools keep between turns. */
  close(): Promise<void>;
}

export function createNativeEngine(options: NativeEngineOptions): NativeEngine {
  return new LoopEngine(options);
}

class LoopEngine implements NativeEngine {
  readonly #options: NativeEngineOptions & { now: () => number };
  readonly #turns = new RunningTurns();
  readonly #tools: ToolSessions;

  constructor(options: NativeEngineOptions) {
    this.#options = { ...options, now: options.now ?? Date.now };
    const { runtime, sessions, log, maxToolSessions } = options;
    this.#tools = new ToolSessions({
      runtime,
      sessions,
      ...(maxToolSessions === undefined ? {} : { max: maxToolSessions }),
      onProblem: (error) => log.warn({ err: error }, 'the tools of a session could not be closed'),
    });
  }

  async run(call: Call, route: Route): Promise<Answer> {
    checkContinues(call);
    const { sessions, pingMs = LIMITS.pingMs } = this.#options;
    const workspace = this.#workspace(route);
    let keeper: TurnKeeper | undefined;
    const attached = await attachTurn({
      sessions,
      turns: this.#turns,
      call,
      request: attachRequest(call, workspace),
      pingMs,
      onEnd: async (turn) => {
        await (keeper === undefined ? this.#abandon(turn) : keeper.abandon());
        keeper?.release();
      },
    });
    if (attached.kind === 'answer') return attached.answer;
    const { turn, running } = attached;
    try {
      const native = await this.#open(call, route, workspace, turn, running);
      keeper = native.keeper;
      const opened = await native.loop.begin();
      return running.begin(headOf(turn, opened), this.#answer(call, native));
    } catch (error) {
      const failure = this.#failure(turn, error);
      await (keeper === undefined ? this.#discard(turn) : keeper.discard());
      await running.fail(failure);
      throw failure;
    }
  }

  async countTokens(call: Call, route: Route): Promise<number> {
    const { request } = call;
    const { root } = this.#workspace(route);
    const toolbox = await this.#toolbox(route, request.tools);
    const prompt = await promptOptions(this.#options, toolbox, { root, cwd: root, session: call.id });
    const counted = modelRequest(request, {
      system: await systemPrompt(prompt, request.system, route.rule.system ?? 'append'),
      messages: request.messages,
      tools: toolbox.definitions,
      cacheKey: call.id,
    });
    return this.#options.relay.countTokens({ ...call, request: counted }, route);
  }

  async close(): Promise<void> {
    await this.#turns.close();
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
      toolbox: await this.#toolbox(route, turn.tools, turn.id),
      signal: AbortSignal.any([running.signal, turn.signal]),
      observe: running.observe,
    });
  }

  /** The events of the answer; the turn is kept before its last event is out. */
  async *#answer(call: Call, native: NativeTurn): AsyncGenerator<readonly TurnEvent[], void, void> {
    const { loop, keeper, turn, tally } = native;
    const { log } = this.#options;
    let end: LoopEnd;
    let last: readonly TurnEvent[] = [];
    try {
      end = yield* loop.run();
      last = await this.#complete(call, native, end);
    } catch (error) {
      if (!(error instanceof GatewayError)) {
        log.error({ err: error, id: call.id, session: turn.id }, 'bug in the agent');
      }
      end = { kind: 'failed', error: toGatewayError(error) };
    }
    const usage: TurnEvent = { type: 'usage', usage: tally.total };
    if (end.kind === 'failed' || (end.kind === 'aborted' && turn.signal.aborted)) {
      const error = this.#failure(turn, end.kind === 'failed' ? end.error : undefined);
      // Before the client hears of it: it may send the same again at once.
      await keeper.abandon();
      last = [{ type: 'error', error }];
    }
    if (last.length > 0) yield [usage, ...last];
  }

  /** Returns how the answer ends. Rejects as the session does. */
  async #complete(call: Call, { loop, keeper, turn }: NativeTurn, end: LoopEnd): Promise<TurnEvent[]> {
    const { log } = this.#options;
    const { said: blocks } = loop;
    switch (end.kind) {
      case 'handed-back': {
        const { calls, open, results } = end;
        const told = call.request.parallelToolCalls === false ? open.slice(0, 1) : open;
        await keeper.complete({
          answer: { blocks: [...blocks, ...told], reason: 'tool_use' },
          handedBack: { calls, open, results },
        });
        return [...told.flatMap(eventsOfCall), stopEvent('tool_use')];
      }
      case 'max-turns': {
        const note = `paused after ${end.turns} model calls (max_turns)`;
        log.info({ id: call.id, session: turn.id, turns: end.turns }, note);
        await keeper.complete({ answer: { blocks, reason: 'pause_turn' } });
        return [{ type: 'loss', path: 'stop_reason', reason: note }, stopEvent('pause_turn')];
      }
      case 'done': {
        const { reason, stopSequence } = end;
        const sequence = stopSequence === undefined ? {} : { stopSequence };
        await keeper.complete({ answer: { blocks, reason, ...sequence } });
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

function attachRequest(
  { headers, idempotencyKey, principal, request }: Call,
  { root }: Workspace,
): AttachRequest {
  return {
    principal: principal.name,
    id: headers[SESSION_HEADER] || undefined,
    idempotencyKey,
    engine: 'native',
    model: request.model,
    root,
    request,
  };
}

function headOf(turn: SessionTurn, opened: OpenModelCall | undefined): AnswerHead {
  const headers = sessionHeaders(turn.id, turn.how);
  if (opened === undefined) return { upstream: OWN_ANSWER, losses: turn.losses, headers, promptTokens: 0 };
  const { upstream, losses, promptTokens } = opened;
  return {
    upstream,
    losses: [...turn.losses, ...losses],
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
