/**
 * Every agent as an engine: attaches a request to its session, opens its driver, streams the steps,
 * and ends the turn. Nothing else completes, abandons or discards a turn. However a turn ends, its
 * observers get the end first, then the driver ends what it has under way, then the turn is abandoned.
 */
import type { AgentActivity, TurnWatcher } from '../../activity/activity.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import { type ModelEvent, stopEvent } from '../../core/events.js';
import type { Loss } from '../../core/losses.js';
import type { Log } from '../../observability/log.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { Sessions, Turn } from '../../sessions/sessions.js';
import type { Workspace } from '../../workspace/workspace.js';
import { checkDemands } from '../demands.js';
import type { Answer, Engine, ModelRequest } from '../engine.js';
import { attachRequest, attachTurn, OWN_ANSWER, sessionHeaders } from './attach-turn.js';
import type { AgentDriver, AnsweredEnd, AskedModel, DriverTurn, StepsEnd } from './driver.js';
import { LIMITS } from './limits.js';
import { type AnswerHead, type LiveTurn, LiveTurns } from './live-turns.js';
import { PersonWait } from './person-wait.js';
import { TurnReporter } from './reporters.js';
import { TurnPersistence } from './turn-persistence.js';
import { AgentTurnSpans } from './turn-spans.js';

export interface AgentEngineOptions<Folder extends Pick<Workspace, 'root'> = Workspace> {
  /** The engine closes it. */
  driver: AgentDriver<Folder>;
  /** The caller closes them, after the engine. */
  sessions: Sessions;
  log: Log;
  /** Receives every turn. */
  watcher?: TurnWatcher | undefined;
  pingMs?: number;
}

export class AgentEngine<Folder extends Pick<Workspace, 'root'> = Workspace> implements Engine {
  readonly #options: AgentEngineOptions<Folder>;
  readonly #turns = new LiveTurns();
  #closing = false;

  constructor(options: AgentEngineOptions<Folder>) {
    this.#options = options;
  }

  async run(call: ModelRequest, route: ModelRoute): Promise<Answer> {
    const { driver, sessions, pingMs = LIMITS.pingMs } = this.#options;
    checkDemands(call.request, driver.name);
    const workspace = driver.workspaceOf(route);
    let running: AgentTurn | undefined;
    const attached = await attachTurn({
      sessions,
      turns: this.#turns,
      call,
      request: attachRequest(call, driver.name === 'plain' ? 'relay' : driver.name, workspace.root),
      pingMs,
      onEnd: async () => running?.over(),
    });
    if (attached.kind === 'answer') return attached.answer;
    const { turn, running: live } = attached;
    const isClosing = () => this.#closing;
    const spans = AgentTurnSpans.of(call, turn.id);
    const traced = spans === undefined ? call : { ...call, span: spans.span, turnSpans: spans };
    const watcher = spans?.beside(this.#options.watcher) ?? this.#options.watcher;
    running = new AgentTurn({ ...this.#options, watcher, call: traced, turn, live, isClosing });
    spans?.open();
    return running.answer((given) => driver.open({ ...given, route, workspace }));
  }

  countTokens(call: ModelRequest, route: ModelRoute): Promise<number> {
    return this.#options.driver.countTokens(call, route);
  }

  /** Stops the turns that still run, and closes the driver. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#turns.close();
    await this.#options.driver.close();
  }
}

interface AgentTurnOptions extends Pick<AgentEngineOptions, 'watcher' | 'log'> {
  call: ModelRequest;
  turn: Turn;
  live: LiveTurn;
  isClosing(): boolean;
}

type Given = Omit<Parameters<AgentDriver['open']>[0], 'route' | 'workspace'>;

/** One turn, from its attachment to its end. */
class AgentTurn {
  readonly #options: AgentTurnOptions;
  readonly #reporter: TurnReporter;
  readonly #persistence: TurnPersistence;
  readonly #wait = new PersonWait();
  #driven: DriverTurn | undefined;

  constructor(options: AgentTurnOptions) {
    const { watcher, call, turn, live, isClosing, log } = options;
    this.#options = options;
    this.#reporter = new TurnReporter({ watcher, call, turn, observe: live.observe, isClosing, log });
    turn.recordFrom(() => this.#reporter.takeRecord());
    this.#persistence = new TurnPersistence(turn, (error) =>
      log.warn({ err: error, id: call.id, session: turn.id }, 'a turn could not be given up cleanly'),
    );
  }

  /** Rejects with a GatewayError; the turn is discarded then. */
  async answer(open: (given: Given) => Promise<DriverTurn>): Promise<Answer> {
    const { call, turn, live } = this.#options;
    try {
      const driven = await open({
        call,
        turn,
        persistence: this.#persistence,
        signal: AbortSignal.any([live.signal, turn.signal]),
        observe: (activity) => this.#observe(activity),
      });
      this.#driven = driven;
      const asked = await driven.begin();
      const head = answerHead(turn, [...turn.losses, ...driven.losses], asked);
      return live.begin({ ...head, waitedMs: () => this.#wait.ms }, this.#stream(driven));
    } catch (error) {
      if (!turn.signal.aborted) this.#logBug(error);
      const failure = turnFailure(turn, error);
      this.#reporter.failed(failure);
      await this.#driven?.close();
      await this.#persistence.discard();
      await live.fail(failure);
      throw failure;
    }
  }

  #observe(activity: AgentActivity): void {
    this.#wait.observe(activity);
    this.#reporter.observe(activity);
    // Of the main agent, the next step is written soon.
    if (isStepOfSubAgent(activity)) void this.#options.turn.saveRecord().catch(() => {});
  }

  #logBug(error: unknown): void {
    if (error instanceof GatewayError) return;
    const { call, turn, log } = this.#options;
    log.error({ err: error, id: call.id, session: turn.id }, 'bug in the agent');
  }

  /** The live turn is over. Does nothing where the turn came to its end. */
  async over(): Promise<void> {
    this.#reporter.over();
    await this.#giveUp();
    this.#persistence.release();
  }

  async #giveUp(): Promise<void> {
    await this.#driven?.close();
    await this.#persistence.abandon();
  }

  /** The events of the answer; the turn is kept before its last event is out. */
  async *#stream(driven: DriverTurn): AsyncGenerator<readonly ModelEvent[], void, void> {
    const { turn } = this.#options;
    let last: readonly ModelEvent[] | GatewayError;
    try {
      try {
        last = await this.#end(driven, yield* driven.steps());
      } catch (error) {
        this.#logBug(error);
        last = toGatewayError(error);
      }
      if (last instanceof GatewayError) {
        const error = turnFailure(turn, last);
        this.#reporter.failed(error);
        // Before the client gets it: it may send the same request again at once.
        await this.#giveUp();
        last = [{ type: 'error', error }];
      }
      const { usage } = driven;
      if (last.length > 0) yield usage === undefined ? last : [{ type: 'usage', usage }, ...last];
    } finally {
      await driven.close();
    }
  }

  /** How the answer ends. Nothing where no client is left; rejects as the session does. */
  async #end(driven: DriverTurn, end: StepsEnd): Promise<readonly ModelEvent[] | GatewayError> {
    const { turn } = this.#options;
    switch (end.kind) {
      case 'failed':
        return end.error;
      case 'aborted':
        return turn.signal.aborted ? turnFailure(turn, undefined) : [];
      case 'stopped':
        this.#reporter.over();
        await this.#persistence.complete({ answer: { blocks: driven.said, reason: 'end_turn' } });
        return turnFailure(turn, undefined);
      default: {
        this.#reporter.answers(end);
        const last = await this.#complete(driven, end);
        this.#reporter.answered(end);
        driven.completed();
        return last;
      }
    }
  }

  async #complete({ said: blocks, shown }: DriverTurn, end: AnsweredEnd): Promise<ModelEvent[]> {
    const { call, turn, log } = this.#options;
    switch (end.kind) {
      case 'handed-back': {
        const { calls, open, results } = end;
        const inOrder = shown.inOrder(open);
        const inAnswer = call.request.parallelToolCalls === false ? inOrder.slice(0, 1) : inOrder;
        await this.#persistence.complete({
          answer: { blocks: [...blocks, ...inAnswer], reason: 'tool_use' },
          handedBack: { calls, open, results },
        });
        return [...inAnswer.flatMap((each) => shown.restOf(each)), stopEvent('tool_use')];
      }
      case 'max-steps': {
        const note = `paused after ${end.steps} model calls (max_turns)`;
        log.info({ id: call.id, session: turn.id, turns: end.steps }, note);
        await this.#persistence.complete({ answer: { blocks, reason: 'pause_turn' } });
        return [{ type: 'loss', path: 'stop_reason', reason: note }, stopEvent('pause_turn')];
      }
      case 'done': {
        const { reason, stopSequence } = end;
        const sequence = stopSequence === undefined ? {} : { stopSequence };
        await this.#persistence.complete({ answer: { blocks, reason, ...sequence } });
        return [stopEvent(reason, stopSequence)];
      }
    }
  }
}

function isStepOfSubAgent(activity: AgentActivity): boolean {
  if (activity.agent === undefined || activity.type !== 'tool') return false;
  return activity.event.type === 'tool-result' || activity.event.type === 'tool-waiting';
}

/** Where the session was taken away, that is why, whatever came of it. */
function turnFailure(turn: Pick<Turn, 'id' | 'signal'>, error: unknown): GatewayError {
  if (!turn.signal.aborted) return toGatewayError(error);
  const { reason } = turn.signal;
  if (reason instanceof GatewayError) return reason;
  return new GatewayError(
    'conflict',
    `The session ${turn.id} was deleted or taken over while this request was being answered. Send the conversation without X-Session-ID to go on.`,
    { cause: error },
  );
}

/** `asked`: the first model request, where one was made. `losses`: of the client's request. */
function answerHead(
  turn: Pick<Turn, 'id' | 'how'>,
  losses: readonly Loss[],
  asked: AskedModel | undefined,
): AnswerHead {
  const headers = sessionHeaders(turn.id, turn.how);
  if (asked === undefined) return { upstream: OWN_ANSWER, losses, headers, promptTokens: 0 };
  const { upstream, promptTokens, settle } = asked;
  return {
    upstream,
    losses: [...losses, ...asked.losses],
    headers: { ...asked.headers, ...headers },
    ...(promptTokens === undefined ? {} : { promptTokens }),
    ...(settle === undefined ? {} : { settle }),
  };
}
