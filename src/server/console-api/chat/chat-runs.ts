/**
 * The turns that the console has begun. What was asked is in the store before a turn begins and goes
 * when it has ended, so that a restarted gateway resumes what its predecessor left:
 * the same request, which the session answers by going on with the turn that broke off.
 */
import { createHash, randomBytes } from 'node:crypto';
import { AnswerMemory } from '../../../answers/answer-memory.js';
import { GatewayError, toGatewayError } from '../../../core/errors.js';
import { StopError } from '../../../core/stopping.js';
import type { Dispatcher, Principal } from '../../../engines/engine.js';
import type { ModelCatalogue } from '../../../engines/model-catalogue.js';
import type { Log } from '../../../observability/log.js';
import type { Tracer } from '../../../observability/open-telemetry.js';
import type { TraceSampler } from '../../../observability/trace-recorder.js';
import { mayTakeOver, ownerOfThisProcess, RELEASED } from '../../../sessions/persistence/lease-keeper.js';
import { busy } from '../../../sessions/refusals.js';
import { sessionLease } from '../../../store/leases.js';
import type { Run } from '../../../store/runs.js';
import type { Store } from '../../../store/store.js';
import type { ChatStarted } from '../wire/sessions.js';
import {
  type ChatBody,
  type ChatPlan,
  type ChatSessions,
  isOfRun,
  nothingToResume,
  planChat,
  readPlan,
} from './chat-plan.js';
import { type ChatEnd, ConsoleTurn } from './console-turn.js';

/** Answers in the background are in the same table. */
const PREFIX = 'run_';

/** Every bound of turns that the console begins. */
const CHAT_LIMITS = {
  /** How often a turn is begun or resumed automatically. */
  attempts: 3,
  /** How long a repeated `client_id` is known again. */
  clientIdMs: 24 * 3600 * 1000,
} as const;

export interface ChatRunsOptions {
  /** The caller closes it, after the runs. */
  dispatcher: Pick<Dispatcher, 'run'>;
  sessions: ChatSessions;
  models: ModelCatalogue;
  store: Pick<Store, 'runs' | 'answers' | 'leases'>;
  log: Log;
  sampler: TraceSampler | undefined;
  tracer?: Tracer | undefined;
  /** The principal that the key of a run is now; undefined where it is not known any more. */
  principalOf(name: string): Principal | undefined;
  /** Called with each turn that is over. */
  report(turn: ConsoleTurn): void;
}

/** One request, from the moment that it came in. */
interface Starting {
  digest: string;
  started: Promise<ChatStarted>;
}

interface Given {
  /** Of the request. */
  digest: string;
  started: ChatStarted;
}

export class ChatRuns {
  readonly #options: ChatRunsOptions;
  /** Two gateways of one process are two owners. */
  readonly #owner = `${ownerOfThisProcess()}/${randomBytes(4).toString('hex')}`;
  readonly #answers: AnswerMemory;
  readonly #starting = new Map<string, Starting>();
  readonly #turns = new Map<string, { turn: ConsoleTurn; settled: Promise<void> }>();
  /** Sessions in which something is about to be said. */
  readonly #taken = new Set<string>();
  /** While it is found out what a predecessor was in the middle of. */
  #restoring: Promise<void> | undefined;
  #closing: StopError | undefined;

  constructor(options: ChatRunsOptions) {
    this.#options = options;
    this.#answers = new AnswerMemory(options.store.answers);
  }

  /** Resolves as soon as the turn has a session. Rejects with what the dialect would answer. */
  start(body: ChatBody, principal: Principal): Promise<ChatStarted> {
    // It may be one of those.
    if (this.#restoring !== undefined) return this.#restoring.then(() => this.start(body, principal));
    const id = runId(principal.name, body.client_id);
    const digest = digestOf(body);
    const known = this.#starting.get(id);
    if (known !== undefined) {
      return known.digest === digest ? known.started : Promise.reject(otherRequest());
    }
    const started = this.#start(id, digest, body, principal);
    this.#remember(id, { digest, started });
    return started;
  }

  /** For as long as it runs. */
  #remember(id: string, starting: Starting): void {
    this.#starting.set(id, starting);
    const forget = () => void (this.#starting.get(id) === starting && this.#starting.delete(id));
    starting.started.then(() => this.#turns.get(id)?.settled.then(forget, forget) ?? forget(), forget);
  }

  /** Goes on with the turn of a session that broke off. Rejects with `conflict` where that is not ours to do. */
  async resume(session: string): Promise<ChatStarted> {
    const { store, sessions } = this.#options;
    await this.#untilOver(session);
    const row = await sessions.get(session);
    const run = await store.runs.ofSession(session);
    const problem = nothingToResume(session, row && sessions.standing(row), run);
    if (problem !== undefined || run === undefined) throw problem ?? busy(session);
    const claim = { from: run.owner, to: this.#owner, attempts: 1 };
    const claimed = (await this.#isFree(run, session)) ? await store.runs.claim(run.id, claim) : undefined;
    if (claimed === undefined || this.#turns.has(run.id)) throw busy(session);
    const turn = await this.#goOn(claimed);
    if (turn === undefined) throw nothingToResume(session, undefined, undefined) ?? busy(session);
    return { session: await turn.attached, turn: turn.id, how: 'continue' };
  }

  /** A running turn holds the lease of its session: of an owner on another machine nothing else is known. */
  async #isFree({ state, owner }: Run, session: string): Promise<boolean> {
    if (state === 'interrupted' || owner === this.#owner || mayTakeOver(owner)) return true;
    const lease = sessionLease(session);
    return !(await this.#options.store.leases.holders([lease])).has(lease);
  }

  /** At the start: what a predecessor of this gateway was in the middle of. Never rejects. */
  restore(): Promise<void> {
    this.#restoring = this.#restoreAll().finally(() => {
      this.#restoring = undefined;
    });
    return this.#restoring;
  }

  async #restoreAll(): Promise<void> {
    const { store, log } = this.#options;
    try {
      for (const run of await store.runs.running()) {
        if (run.id.startsWith(PREFIX) && mayTakeOver(run.owner)) await this.#restore(run);
      }
    } catch (error) {
      log.error({ err: error }, 'interrupted console runs could not be resumed');
    }
  }

  /** The caller has closed the approvals: what waits for a person is still there for the next gateway. */
  async close(): Promise<void> {
    this.#closing = new StopError(
      'gateway-stops',
      'unavailable',
      'The gateway stops; the turn goes on when it is back.',
      {
        retryable: true,
      },
    );
    // Those that have no session yet as well: their clients learn that the gateway stops.
    for (const { turn } of this.#turns.values()) turn.close(this.#closing);
    await Promise.allSettled([...this.#starting.values()].map(({ started }) => started));
    await Promise.all([...this.#turns.values()].map(({ settled }) => settled));
    await this.#options.store.runs.release(this.#owner, RELEASED);
  }

  async #start(id: string, digest: string, body: ChatBody, principal: Principal): Promise<ChatStarted> {
    const given = await this.#given(principal.name, id);
    if (given !== undefined) {
      if (given.digest === digest) return given.started;
      throw otherRequest();
    }
    const { session } = body;
    const row = session === undefined ? undefined : await this.#options.sessions.get(session);
    // Another key does not learn that it is busy: the plan says that there is none.
    if (session === undefined || row?.principal !== principal.name || body.keep !== undefined)
      return this.#begin(id, digest, body, principal);
    if (this.#taken.has(session)) throw busy(session);
    this.#taken.add(session);
    try {
      await this.#untilOver(session);
      return await this.#begin(id, digest, body, principal);
    } finally {
      this.#taken.delete(session);
    }
  }

  /** A turn may have come to its end, and not be put away yet. */
  async #untilOver(id: string): Promise<void> {
    const turn = this.#turnOf(id);
    if (turn === undefined) return;
    const { sessions } = this.#options;
    const session = await sessions.get(id);
    if (session !== undefined && sessions.standing(session)?.turn?.running === true) throw busy(id);
    await turn.settled;
  }

  async #begin(id: string, digest: string, body: ChatBody, principal: Principal): Promise<ChatStarted> {
    const { store, sessions, models } = this.#options;
    const plan = await planChat({ body, principal, sessions, models });
    let turn: ConsoleTurn | undefined;
    try {
      if (this.#closing !== undefined) throw this.#closing;
      const run = { id, principal: principal.name, owner: this.#owner, request: { ...plan, digest } };
      if (!(await store.runs.create(run))) throw beingAnswered();
      turn = this.#take(id, plan, principal);
      const session = await turn.attached;
      const started: ChatStarted = { session, turn: turn.id, how: plan.how };
      await store.runs.attach(id, session);
      await store.runs.deleteOthers(session, id);
      await this.#keep(principal.name, id, { digest, started });
      return started;
    } catch (error) {
      // No client knows the fork yet.
      if (plan.how === 'fork' && plan.session !== undefined && turn?.session === undefined) {
        await sessions.delete(plan.session, principal.name);
      }
      throw error;
    }
  }

  async #restore(run: Omit<Run, 'request'>): Promise<void> {
    const { store, log } = this.#options;
    const { id, session, attempts, owner: from } = run;
    const isLast = attempts >= CHAT_LIMITS.attempts;
    const claim = { from, to: this.#owner, attempts: isLast ? attempts : attempts + 1 };
    const claimed = await store.runs.claim(id, claim);
    if (claimed === undefined) return;
    if (isLast) {
      log.warn(
        { session, attempts },
        'a console run broke again and again; it stays interrupted until a person resumes it',
      );
      await store.runs.interrupt(id, this.#owner);
      return;
    }
    if (session !== undefined && !(await this.#isOpen(claimed, session))) {
      await store.runs.delete(id);
      return;
    }
    log.info({ session, attempts: claimed.attempts }, 'resuming an interrupted console run');
    await this.#goOn(claimed);
  }

  /** The session still has the turn of the run, and no person stopped it. */
  async #isOpen(run: Run, session: string): Promise<boolean> {
    const { sessions } = this.#options;
    const found = await sessions.get(session);
    const turn = found && sessions.standing(found)?.turn;
    return turn !== undefined && !turn.stopped && isOfRun(turn, run);
  }

  /** Undefined where it cannot be done any more; that is noted. */
  async #goOn(run: Run): Promise<ConsoleTurn | undefined> {
    const { store, log, principalOf } = this.#options;
    const principal = principalOf(run.principal);
    const plan = readPlan(run.request);
    if (principal !== undefined && plan !== undefined) {
      const turn = this.#take(run.id, plan, principal, run.session !== undefined);
      const started = this.#attach(run.id, turn, plan);
      if (plan.digest !== undefined) this.#remember(run.id, { digest: plan.digest, started });
      return turn;
    }
    log.warn(
      { session: run.session, key: run.principal },
      principal === undefined
        ? 'a console run is not resumed: its key no longer exists'
        : 'a console run is not resumed: another version of the gateway wrote it',
    );
    await store.runs.interrupt(run.id, this.#owner);
    return undefined;
  }

  /** `heardOf`: it has a session, also where this try finds none. */
  #take(run: string, plan: ChatPlan, principal: Principal, heardOf = false): ConsoleTurn {
    const { dispatcher, sampler, tracer, report } = this.#options;
    const recorder = sampler?.begin();
    const turn = new ConsoleTurn({ run, plan, principal, dispatcher, recorder, tracer, report });
    const settled = turn.finished.then((end) => this.#settle(run, turn, end, heardOf));
    this.#turns.set(run, { turn, settled });
    if (this.#closing !== undefined) turn.close(this.#closing);
    return turn;
  }

  /** `restore` does not wait for it. */
  #attach(run: string, turn: ConsoleTurn, plan: ChatPlan): Promise<ChatStarted> {
    const started = this.#startedAgain(run, turn, plan);
    started.catch((error: unknown) => {
      // A turn without a session reports why when it ends.
      if (turn.session !== undefined) this.#warn(error, turn);
    });
    return started;
  }

  /** The answer to the request that was lost with the gateway, or the one that was given. */
  async #startedAgain(run: string, turn: ConsoleTurn, { digest, how }: ChatPlan): Promise<ChatStarted> {
    const session = await turn.attached;
    await this.#options.store.runs.attach(run, session);
    const { name } = turn.principal;
    const given = await this.#given(name, run);
    if (given !== undefined) return given.started;
    const started: ChatStarted = { session, turn: turn.id, how };
    if (digest !== undefined) await this.#keep(name, run, { digest, started });
    return started;
  }

  /** What the request was answered with, for who sends it again under the same `client_id`. */
  async #given(principal: string, run: string): Promise<Given | undefined> {
    const row = await this.#answers.get(principal, { kind: 'console-run', run });
    return row !== undefined && isStarted(row.body) ? { digest: row.digest, started: row.body } : undefined;
  }

  async #keep(principal: string, run: string, { digest, started }: Given): Promise<void> {
    const { session } = started;
    const row = { digest, session, body: started, keptMs: CHAT_LIMITS.clientIdMs };
    await this.#answers.put(principal, { kind: 'console-run', run }, row);
  }

  async #settle(run: string, turn: ConsoleTurn, end: ChatEnd, heardOf: boolean): Promise<void> {
    const { runs } = this.#options.store;
    try {
      if (end.kind === 'closing') return;
      // A run that no client knows is only an error; any other may be resumed by a person.
      const isKnown = heardOf || turn.session !== undefined;
      if (end.kind === 'failed' && isKnown) await runs.interrupt(run, this.#owner);
      else await runs.delete(run);
    } catch (error) {
      this.#warn(error, turn);
    } finally {
      this.#turns.delete(run);
    }
  }

  #warn(error: unknown, { session }: ConsoleTurn): void {
    this.#options.log.warn({ err: toGatewayError(error), session }, 'a console run could not be recorded');
  }

  #turnOf(session: string): { turn: ConsoleTurn; settled: Promise<void> } | undefined {
    return [...this.#turns.values()].find(({ turn }) => turn.session === session);
  }
}

/** The same for the same request of a key; without a name of its own, a request is like no other. */
function runId(principal: string, clientId: string | undefined): string {
  if (clientId === undefined) return `run_${randomBytes(16).toString('base64url')}`;
  return `run_${createHash('sha256')
    .update(JSON.stringify([principal, clientId]))
    .digest('base64url')}`;
}

// It was written by this program and is read by it alone.
const isStarted = (value: unknown): value is ChatStarted =>
  typeof value === 'object' && value !== null && 'session' in value && 'turn' in value;

function digestOf(body: ChatBody): string {
  const { model, session, keep, content, cwd } = body;
  const parts = JSON.stringify([model, session ?? null, keep ?? null, content, cwd ?? null]);
  return createHash('sha256').update(parts).digest('base64url');
}

function otherRequest(): GatewayError {
  return new GatewayError(
    'conflict',
    'client_id: it belongs to another request. Use a new one for a new request.',
    { param: 'client_id', detail: 'client_id_reused' },
  );
}

function beingAnswered(): GatewayError {
  return new GatewayError(
    'conflict',
    'client_id: the request is known, and another gateway process answers it or it broke off. Look at the sessions.',
    { param: 'client_id', detail: 'session_busy' },
  );
}
