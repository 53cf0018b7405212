/** Sessions on a store: assembles the rooms, and stops, forks, parks and deletes sessions. */
import type { Message, ToolUseBlock } from '../../core/conversation.js';
import { atMost } from '../../core/deferred.js';
import type { NodeReference } from '../../core/elsewhere.js';
import { sessionLease } from '../../store/leases.js';
import type {
  CountedSessions,
  ListedSession,
  Session,
  SessionLabels,
  SessionQuery,
} from '../../store/sessions.js';
import type { Page } from '../../store/store.js';
import { seedOf } from '../history/history-fingerprint.js';
import { HistoryLookup } from '../matching/history-lookup.js';
import { SessionMatcher } from '../matching/session-matcher.js';
import { homeElsewhere } from '../persistence/home.js';
import { isGone, LeaseKeeper, Mutex, mayTakeOver, ownerOfThisProcess } from '../persistence/lease-keeper.js';
import { LeasedSession } from '../persistence/leased-session.js';
import { openIn } from '../persistence/pending-tool-calls.js';
import { forkPoint, numberedTitle, SessionFactory } from '../persistence/session-factory.js';
import { type LoadedSession, SessionReader } from '../persistence/session-reader.js';
import { readSessionRow, type SessionRow, type TurnRow } from '../persistence/session-row.js';
import { ended, lost, stopped } from '../refusals.js';
import {
  LIMITS,
  type SessionParts,
  type SessionPlace,
  type SessionsLog,
  type SessionsStore,
} from '../session-parts.js';
import type {
  AttachRequest,
  NotedAttachment,
  ReadOptions,
  SessionContent,
  SessionEvent,
  SessionProgress,
  Sessions,
  SteeringMessage,
  TurnStart,
} from '../sessions.js';
import { Deliveries, TurnReaders } from '../turns/deliveries.js';
import type { LeasedTurn, LeasedTurnEnd } from '../turns/leased-turn.js';
import { TurnStarter } from '../turns/turn-starter.js';
import { ExpiryWatch, ToolTimeouts } from './session-timers.js';

export interface SessionsOptions {
  store: SessionsStore;
  log: SessionsLog;
  /** An unused session expires after this. */
  ttlMs: number;
  /** How long a parked turn waits for its client's results. */
  toolTimeoutMs: number;
  onToolTimeout: 'hibernate' | 'fail';
  now?: () => number;
  owner?: string;
  /** Where other nodes share the store. */
  place?: SessionPlace | undefined;
  leaseMs?: number;
}

export function createSessions(options: SessionsOptions): Sessions {
  return new StoredSessions(options);
}

class StoredSessions implements Sessions {
  readonly #parts: SessionParts;
  readonly #events: SessionEvents;
  readonly #reader: SessionReader;
  readonly #keeper: LeaseKeeper;
  readonly #factory: SessionFactory;
  readonly #matcher: SessionMatcher;
  readonly #timeouts: ToolTimeouts;
  readonly #deliveries: Deliveries;
  readonly #expiry: ExpiryWatch;
  readonly #mutex = new Mutex();
  readonly #running = new Map<string, LeasedTurn>();
  readonly #readers = new TurnReaders();

  constructor(options: SessionsOptions) {
    const { store, log, ttlMs, toolTimeoutMs, onToolTimeout, now = Date.now } = options;
    const { owner = ownerOfThisProcess(), leaseMs = LIMITS.leaseMs } = options;
    this.#events = new SessionEvents(log);
    const parts: SessionParts = {
      store,
      log,
      ttlMs,
      toolTimeoutMs,
      onToolTimeout,
      now,
      node: `gateway:${owner}`,
      place: options.place,
      emit: (event) => {
        if (event.type === 'ended') {
          this.#timeouts.forget(event.session);
          this.#reader.forget(event.session);
        }
        this.#events.emit(event);
      },
    };
    const mutex = this.#mutex;
    const running = this.#running;
    const reader = new SessionReader(store);
    const keeper = new LeaseKeeper({
      leases: store.leases,
      sessions: store.sessions,
      owner,
      leaseMs,
      ttlMs,
      log,
      onBeat: () => Promise.all([...running.values()].map((turn) => turn.renew())),
    });
    const factory = new SessionFactory(parts, keeper);
    const isRunning = (session: string) => running.has(session);
    const deliveries = new Deliveries(parts, reader);
    const readers = this.#readers;
    const lookup = new HistoryLookup(store, reader, deliveries, readers);
    const starter = new TurnStarter({
      parts,
      reader,
      onBegin: (turn, leased, reader) => this.#onBegin(turn, leased, reader),
      onEnd: (turn, leased, end) => this.#onEnd(turn, leased, end),
      onWaiting: (leased) => this.#park(leased),
    });
    this.#parts = parts;
    this.#reader = reader;
    this.#keeper = keeper;
    this.#factory = factory;
    this.#timeouts = new ToolTimeouts({ parts, reader, keeper, mutex, isRunning });
    this.#expiry = new ExpiryWatch(parts, isRunning);
    this.#deliveries = deliveries;
    this.#matcher = new SessionMatcher({
      parts,
      reader,
      lookup,
      factory,
      starter,
      deliveries,
      keeper,
      mutex,
      running,
      readers,
      settleLate: (loaded) => this.#timeouts.settle(loaded),
      onLost: (session) => running.get(session)?.lose(lost(session)),
    });
  }

  attach(request: AttachRequest): Promise<NotedAttachment> {
    return this.#matcher.attach(request);
  }

  delivered(session: string, key: string): void {
    this.#readers.clear(session, key);
    this.#deliveries.delivered(session, key);
  }

  passedOn(session: string, key: string): void {
    this.#readers.clear(session, key);
  }

  list(query: SessionQuery): Promise<Page<ListedSession>> {
    return this.#parts.store.sessions.list(query);
  }

  count(query: CountedSessions): Promise<number> {
    return this.#parts.store.sessions.count(query);
  }

  get(id: string): Promise<Session | undefined> {
    return this.#parts.store.sessions.get(id);
  }

  async read(id: string, { records = 0 }: ReadOptions = {}): Promise<SessionContent | undefined> {
    const loaded = await this.#reader.load(id);
    if (loaded === undefined) return undefined;
    const { session, record, log } = loaded;
    let open: ToolUseBlock[] = [];
    if (record.turn === undefined) {
      const toolCalls = await this.#reader.pending(loaded);
      if (toolCalls !== undefined) open = openIn(toolCalls);
    }
    return {
      session,
      messages: log.messages,
      readable: log.readable(),
      open,
      settled: await this.#reader.settledEnd(loaded),
      records: records === 0 ? [] : await this.#reader.shown(loaded, records),
    };
  }

  async turnStart(id: string, turn: number): Promise<TurnStart | undefined> {
    const loaded = await this.#reader.load(id);
    if (loaded === undefined) return undefined;
    const { before, said } = loaded.log.turnStart(turn);
    const settled = said === undefined ? await this.#reader.settledEnd(loaded) : undefined;
    return { before: settled === undefined ? before : [...before, settled], said };
  }

  standing(session: Session): SessionProgress | undefined {
    const record = readSessionRow(session);
    if (record === undefined) return undefined;
    const { root, turn, steered } = record;
    const running = this.#running.has(session.id);
    return {
      root,
      turn: turn && { running, stopped: turn.stopped === true, idempotency: turn.asks.idempotency },
      steered,
    };
  }

  async elsewhere({ id, metadata }: Pick<Session, 'id' | 'metadata'>): Promise<NodeReference | undefined> {
    if (this.#running.has(id)) return undefined;
    const lease = sessionLease(id);
    const owner = (await this.#parts.store.leases.holders([lease])).get(lease);
    if (owner !== undefined && !this.#keeper.isOwn({ owner }) && !isGone(owner)) return { owner };
    const record = readSessionRow({ metadata });
    const node = record && homeElsewhere(this.#parts.place, record);
    return node === undefined ? undefined : { node };
  }

  async running(): Promise<string[]> {
    const held = await this.#parts.store.leases.heldSessions();
    const living = [...held].flatMap(([id, owner]) => (mayTakeOver(owner) ? [] : [id]));
    return [...new Set([...this.#running.keys(), ...living])];
  }

  async fork(id: string, { keep }: { keep?: number } = {}): Promise<Session | undefined> {
    const made = await this.#mutex.run(id, () => this.#fork(id, keep));
    return made === undefined ? undefined : this.get(made);
  }

  async stop(id: string, by: string): Promise<boolean> {
    // The mutex waits for a turn that is just beginning.
    const turn = await this.#mutex.run(id, async () => this.#running.get(id) ?? this.#giveUp(id, by));
    if (typeof turn === 'boolean') return turn;
    turn.stop(stopped(id, by));
    await atMost(LIMITS.stopMs, turn.over);
    return true;
  }

  steer(id: string, message: SteeringMessage): boolean {
    return this.#running.get(id)?.steer(message) === true;
  }

  unsteer(id: string, message: string): boolean {
    return this.#running.get(id)?.unsteer(message) !== false;
  }

  async label(id: string, labels: SessionLabels): Promise<Session | undefined> {
    const { store, emit } = this.#parts;
    if (!(await store.sessions.label(id, labels))) return undefined;
    const session = await store.sessions.get(id);
    if (session !== undefined) emit({ type: 'labelled', session: id, principal: session.principal });
    return session;
  }

  async delete(id: string, by: string): Promise<boolean> {
    const { store, emit } = this.#parts;
    // The mutex waits for a turn that is just beginning, so that it is stopped as well.
    return this.#mutex.run(id, async () => {
      const session = await store.sessions.get(id);
      if (session === undefined) return false;
      const deleted = await store.sessions.delete(id, by);
      this.#running.get(id)?.lose(ended(id));
      this.#expiry.forget(id);
      if (deleted) emit({ type: 'ended', session: id, principal: session.principal, why: 'deleted' });
      return deleted;
    });
  }

  subscribe(listener: (event: SessionEvent) => void): () => void {
    return this.#events.subscribe(listener);
  }

  async close(): Promise<void> {
    this.#timeouts.close();
    this.#expiry.close();
    await this.#deliveries.close();
    await this.#keeper.close();
  }

  /** Two conversations of one title cannot be told apart in a list. */
  async #forkTitle(principal: string, title: string): Promise<string> {
    const { items } = await this.#parts.store.sessions.list({ principal, limit: LIMITS.forkTitles });
    return numberedTitle(
      title,
      items.map((each) => each.title ?? ''),
    );
  }

  async #fork(id: string, keep: number | undefined): Promise<string | undefined> {
    const parent = await this.#reader.load(id);
    if (parent === undefined) return undefined;
    const { session, record } = parent;
    const { principal, model, engine, title } = session;
    const { root, user } = record;
    const turnEnds = await this.#reader.turnEnds(id);
    const seed = seedOf({ engine, root, user });
    const setup = await this.#reader.setup(parent);
    const point =
      keep === undefined
        ? { turnEnd: turnEnds.last, base: [], end: seed }
        : forkPoint(parent, turnEnds, keep, engine);
    const leased = await this.#factory.make({
      how: 'fork',
      by: { principal, model, engine, root, user },
      seed,
      title: title === undefined ? undefined : await this.#forkTitle(principal, title),
      origin: { parent, turnEnds, turnEnd: point.turnEnd, setup, records: await this.#reader.records(id) },
      base: await this.#withResults(parent, point.base),
      end: point.end,
      onLost: () => undefined,
      // A client that names no session continues the session that it had.
      indexed: false,
    });
    try {
      // Pending calls belong to the last answer alone.
      const isWhole = point.turnEnd === turnEnds.last && point.base.length === 0;
      const toolCalls = isWhole ? await this.#reader.pending(parent) : undefined;
      const results = [...(toolCalls?.recorded.values() ?? [])].flatMap(({ id: call, runBy, result }) =>
        runBy === 'client' && result !== undefined ? [{ id: call, ...result }] : [],
      );
      if (results.length > 0) await this.#parts.store.toolCalls.record(leased.id, results, principal);
      const blocks = isWhole ? await this.#reader.saidMeanwhile(parent) : [];
      const { pending, turns } = leased.record;
      if (pending !== undefined && blocks.length > 0) {
        const record = { pending: { ...pending, said: [...pending.said, turns + 1] } };
        await leased.write({ turns: [{ kind: 'said', blocks }], record });
      }
    } finally {
      await this.#park(leased);
    }
    return leased.id;
  }

  /** A broken turn's calls stay with their session; the fork gets their results as far as they are known. */
  async #withResults(parent: LoadedSession, base: readonly Message[]): Promise<readonly Message[]> {
    const last = base.at(-1);
    if (last === undefined || last !== parent.log.messages.at(-1)) return base;
    const settled = await this.#reader.settledEnd(parent);
    return settled === undefined ? base : [...base, settled];
  }

  #onBegin(turn: LeasedTurn, { id, principal }: LeasedSession, reader: AbortSignal | undefined): void {
    this.#running.set(id, turn);
    this.#readers.enter(id, turn.key, reader);
    this.#timeouts.forget(id);
    this.#expiry.touch(id, principal);
    this.#parts.emit({ type: 'turn-began', session: id, principal });
  }

  /** Under the session's mutex: a concurrent request sees the turn before or after its end. */
  #onEnd(turn: LeasedTurn, leased: LeasedSession, end: LeasedTurnEnd): Promise<void> {
    const { id, principal } = leased;
    const { store, node, emit } = this.#parts;
    return this.#mutex.run(id, async () => {
      if (this.#running.get(id) === turn) this.#running.delete(id);
      this.#deliveries.expect(leased, leased.record);
      // The readers of a complete answer are still to receive it.
      if (end === 'broken' || end === 'discarded') this.#readers.clear(id, turn.key);
      if (end === 'discarded') await store.sessions.delete(id, node);
      if (end === 'broken' && turn.stopped) await this.#noteStop(leased);
      // A deleted or lost session is no longer this process's to watch.
      if (turn.signal.aborted && !turn.stopped) await leased.release();
      else await this.#park(leased);
      emit({ type: 'turn-ended', session: id, principal, end: end === 'discarded' ? 'broken' : end });
      if (end !== 'discarded') return;
      this.#expiry.forget(id);
      emit({ type: 'ended', session: id, principal, why: 'deleted' });
    });
  }

  /** Marks a broken turn as stopped, so that only its own request resumes it. False without one. */
  async #giveUp(id: string, by: string): Promise<boolean> {
    const head = await this.#reader.head(id);
    if (!hasBrokenTurn(head?.record)) return false;
    const grant = await this.#keeper.acquire(id);
    // The lease's owner is resuming it.
    if (!grant.granted) return false;
    let leased: LeasedSession | undefined;
    try {
      const loaded = await this.#reader.load(id);
      if (loaded === undefined || !hasBrokenTurn(loaded.record)) return false;
      const { session, record, log } = loaded;
      const { lease } = grant;
      leased = new LeasedSession({ parts: this.#parts, keeper: this.#keeper, session, record, log, lease });
      await leased.write({ record: { turn: { ...record.turn, stopped: true } } });
      this.#parts.emit({ type: 'turn-left', session: id, principal: session.principal, by });
      return true;
    } finally {
      if (leased === undefined) await this.#keeper.release(grant.lease);
      else await this.#park(leased);
    }
  }

  async #noteStop(leased: LeasedSession): Promise<void> {
    const { turn } = leased.record;
    try {
      if (turn !== undefined) await leased.write({ record: { turn: { ...turn, stopped: true } } });
    } catch (error) {
      this.#parts.log.warn({ err: error, session: leased.id }, 'the stop of a turn could not be written');
    }
  }

  /** Releases the lease and watches the session's expiry and pending calls. */
  async #park(leased: LeasedSession): Promise<void> {
    const { id, principal, record, log } = leased;
    this.#expiry.touch(id, principal);
    this.#reader.giveBack({ session: { id, principal }, log });
    if (record.pending !== undefined && record.turn === undefined) {
      this.#timeouts.watch(id, record.pending.until);
    }
    await leased.release();
  }
}

function hasBrokenTurn(record: SessionRow | undefined): record is SessionRow & { turn: TurnRow } {
  return record?.turn !== undefined && record.turn.stopped !== true;
}

type Listener = (event: SessionEvent) => void;

/** Calls every listener; one that throws does not keep the others from the event. */
class SessionEvents {
  readonly #listeners = new Set<{ listener: Listener }>();
  readonly #log: SessionsLog;

  constructor(log: SessionsLog) {
    this.#log = log;
  }

  subscribe(listener: Listener): () => void {
    const entry = { listener };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  emit(event: SessionEvent): void {
    for (const { listener } of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        this.#log.warn({ err: error, event: event.type }, 'a listener of sessions failed');
      }
    }
  }
}
