/** The native agent as an engine: attaches a request to its conversation and answers it with a loop. */
import type { Block, Message, StopReason, ToolDefinition } from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { TurnEvent } from '../../core/events.js';
import type { Log } from '../../observability/log.js';
import type { Route } from '../../routing/router.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import { openWorkspace, type Workspace } from '../../workspace/workspace.js';
import { eventsOfBlocks, eventsOfCall, stopEvent } from '../agent/block-events.js';
import { LIMITS } from '../agent/limits.js';
import { LiveBatches } from '../agent/live-batches.js';
import { notifierOf, safeObserver } from '../agent/observer.js';
import { ServerCalls } from '../agent/server-calls.js';
import { openToolbox, type Toolbox } from '../agent/toolbox.js';
import { UsageTally } from '../agent/usage-tally.js';
import type { Answer, Call, Engine, Principal } from '../engine.js';
import { AgentLoop, type LoopEnd } from './agent-loop.js';
import { ModelCaller, type OpenModelCall } from './model-caller.js';
import { modelRequest } from './model-request.js';
import { systemPrompt } from './prompt/system-prompt.js';
import { MemorySessions } from './sessions/memory-sessions.js';
import type { AttachKind, Attachment, NativeSession, NativeSessions } from './sessions/native-sessions.js';
import { runSubAgent } from './sub-agent.js';
import { promptOptions, type TurnParts, toolOptions } from './turn.js';

export interface NativeEngineOptions {
  relay: Engine & { countTokens(call: Call, route: Route): Promise<number> };
  runtime: ToolRuntime;
  log: Log;
  /** The folder of a model whose entry names none. */
  startDir: string;
  home: string;
  /** Who answers a model name for this caller; undefined where it may not, or nobody does. */
  routeOf?: (model: string, principal: Principal) => Route | undefined;
  /** Made in memory without. */
  sessions?: NativeSessions;
  sessionTtlMs?: number;
  now?: () => number;
  pingMs?: number;
}

export interface NativeEngine extends Engine {
  /** With the agent's own prompt and tools, as the first model call would have them. */
  countTokens(call: Call, route: Route): Promise<number>;
  /** Ends every session. Turns that still run must have been aborted. */
  close(): Promise<void>;
}

const SESSION_HEADER = 'x-session-id';

export function createNativeEngine(options: NativeEngineOptions): NativeEngine {
  const { runtime, log, now = Date.now } = options;
  const sessions =
    options.sessions ??
    new MemorySessions({
      openTools: ({ id, principal, workspace }) => runtime.openSession({ id, principal, workspace }),
      onProblem: (error) => log.warn({ err: error }, 'a session could not be closed'),
      now,
      ...(options.sessionTtlMs === undefined ? {} : { ttlMs: options.sessionTtlMs }),
    });
  return new LoopEngine({ ...options, now, sessions });
}

type Complete = NativeEngineOptions & Required<Pick<NativeEngineOptions, 'now' | 'sessions'>>;

class LoopEngine implements NativeEngine {
  readonly #options: Complete;

  constructor(options: Complete) {
    this.#options = options;
  }

  async run(call: Call, route: Route): Promise<Answer> {
    const { request } = call;
    checkContinues(call);
    const workspace = this.#workspace(route);
    const attached = await this.#options.sessions.attach({
      principal: call.principal.name,
      id: call.headers[SESSION_HEADER] || undefined,
      workspace,
      messages: request.messages,
      tools: request.tools,
      system: request.system,
      oneCall: request.parallelToolCalls === false,
    });
    if (attached.kind !== 'turn') return recorded(attached);
    const { session, how, transcript } = attached;
    call.announce?.(headersOf(session, how));
    const stop = new AbortController();
    const signal = AbortSignal.any([call.signal, stop.signal]);
    try {
      const turn = await this.#prepare(call, route, session, signal);
      const { loop, model } = await this.#loop(turn, session, transcript);
      const opened = await loop.begin();
      return answerOf(opened, session, how, {
        source: this.#answer(turn, { loop, model, session, transcript }),
        pingMs: this.#options.pingMs ?? LIMITS.pingMs,
        abort: () => stop.abort(),
        // Does nothing where the turn came to its end.
        onEnd: () => session.abandon(transcript),
      });
    } catch (error) {
      stop.abort();
      session.discard(transcript);
      throw error;
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

  close(): Promise<void> {
    return this.#options.sessions.close();
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

  async #prepare(call: Call, route: Route, session: NativeSession, signal: AbortSignal): Promise<TurnParts> {
    const { relay, runtime, log, now, routeOf } = this.#options;
    return {
      relay,
      runtime,
      log,
      now,
      routeOf: (model) => routeOf?.(model, call.principal),
      call,
      route,
      request: call.request,
      session: await session.toolSession(),
      forkNumber: session.forkNumber,
      toolbox: await this.#toolbox(route, session.tools, session.id),
      tally: new UsageTally(),
      signal,
      notify: safeObserver(call.observe, log),
    };
  }

  async #loop(
    turn: TurnParts,
    session: NativeSession,
    transcript: Message[],
  ): Promise<{ loop: AgentLoop; model: ModelCaller }> {
    const { relay, runtime, log, call, route, request, toolbox, tally, signal } = turn;
    const { root } = turn.session.workspace;
    const notify = notifierOf(turn.notify, session.id);
    const { cwd, memoryDir } = turn.session;
    const prompt = await promptOptions(turn, toolbox, { root, cwd, memoryDir, session: session.id });
    const model = new ModelCaller({
      relay,
      call,
      route,
      request,
      system: await systemPrompt(prompt, session.system, route.rule.system ?? 'append'),
      toolbox,
      cacheKey: session.id,
      signal,
      tally,
      notify,
      onProblem: (message, error) => log.warn({ err: error, id: call.id, session: session.id }, message),
    });
    const calls = new ServerCalls({
      runtime,
      toolbox,
      session: turn.session,
      options: toolOptions(turn),
      signal,
      runAgent: (task) => runSubAgent(turn, task),
      notify,
      onBug: (error) => log.error({ err: error, id: call.id, session: session.id }, 'bug while tools ran'),
    });
    const loop = new AgentLoop({
      transcript,
      model,
      modelName: request.model,
      toolbox,
      calls,
      tally,
      maxTurns: route.rule.maxTurns ?? LIMITS.maxTurns,
      toolChoice: request.toolChoice,
      signal,
      // That wire has one text for the whole answer.
      textSeparator: call.ingress.name === 'openai-chat' ? '\n\n' : '',
      claimId: (id) => session.claimId(id),
      notify,
    });
    return { loop, model };
  }

  /** The events of the answer; records the turn before its last event is out. */
  async *#answer(turn: TurnParts, parts: RunningTurn): AsyncGenerator<readonly TurnEvent[], void, void> {
    const { loop } = parts;
    const { log, call, tally } = turn;
    let end: LoopEnd;
    try {
      end = yield* loop.run();
    } catch (error) {
      log.error({ err: error, id: call.id, session: parts.session.id }, 'bug in the agent');
      end = { kind: 'failed', error: toGatewayError(error) };
    }
    const usage: TurnEvent = { type: 'usage', usage: tally.total };
    switch (end.kind) {
      case 'aborted':
        return;
      case 'failed':
        yield [usage, { type: 'error', error: end.error }];
        return;
      case 'handed-back': {
        const told = call.request.parallelToolCalls === false ? end.open.slice(0, 1) : end.open;
        this.#complete(parts, [...loop.said, ...told], 'tool_use', end);
        yield [...told.flatMap(eventsOfCall), usage, stopEvent('tool_use')];
        return;
      }
      case 'max-turns': {
        const note = `paused after ${end.turns} model calls (max_turns)`;
        log.info({ id: call.id, session: parts.session.id, turns: end.turns }, note);
        this.#complete(parts, loop.said, 'pause_turn');
        yield [{ type: 'loss', path: 'stop_reason', reason: note }, usage, stopEvent('pause_turn')];
        return;
      }
      case 'done':
        this.#complete(parts, loop.said, end.reason);
        yield [usage, stopEvent(end.reason, end.stopSequence)];
    }
  }

  #complete(
    { session, transcript, model }: RunningTurn,
    blocks: readonly Block[],
    reason: StopReason,
    handedBack?: Extract<LoopEnd, { kind: 'handed-back' }>,
  ): void {
    const calls = transcript.at(-1)?.content.filter((block) => block.type === 'tool_use') ?? [];
    session.complete({
      transcript,
      compacted: model.compactions > 0,
      answer: { blocks, reason },
      ...(handedBack === undefined
        ? {}
        : { handedBack: { calls, open: handedBack.open, results: handedBack.results } }),
    });
  }
}

interface RunningTurn {
  loop: AgentLoop;
  model: ModelCaller;
  session: NativeSession;
  transcript: Message[];
}

function answerOf(
  { upstream, losses, promptTokens }: OpenModelCall,
  session: NativeSession,
  how: AttachKind,
  live: ConstructorParameters<typeof LiveBatches>[0],
): Answer {
  return {
    upstream,
    losses,
    headers: headersOf(session, how),
    ...(promptTokens === undefined ? {} : { promptTokens }),
    body: { kind: 'events', batches: new LiveBatches(live) },
  };
}

function headersOf({ id }: Pick<NativeSession, 'id'>, how: AttachKind): Record<string, string> {
  return { [SESSION_HEADER]: id, 'x-toolgate-attach': how };
}

/** An answer for which no model is asked. */
function recorded(attached: Exclude<Attachment, { kind: 'turn' }>): Answer {
  const events: TurnEvent[] =
    attached.kind === 'waiting'
      ? [...attached.open.flatMap(eventsOfCall), stopEvent('tool_use')]
      : [...eventsOfBlocks(attached.answer.blocks), stopEvent(attached.answer.reason)];
  return {
    upstream: 'toolgate',
    losses: [],
    headers: headersOf(attached.session, 'continue'),
    promptTokens: 0,
    body: { kind: 'events', batches: once([{ type: 'usage', usage: { outputTokens: 0 } }, ...events]) },
  };
}

async function* once<T>(item: T): AsyncGenerator<T> {
  yield item;
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
