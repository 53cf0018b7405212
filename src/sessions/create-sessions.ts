/** Sessions on a store. */
import type { Message, ToolUseBlock } from '../core/conversation.js';
import { atMost } from '../core/deferred.js';
import type { ListedSession, Session, SessionQuery } from '../store/sessions.js';
import type { Page } from '../store/store.js';
import { ExpiryWatch } from './lifetime/expiry.js';
import { LeaseKeeper } from './lifetime/lease-keeper.js';
import { Mutex } from './lifetime/mutex.js';
import { ownerOfThisProcess } from './lifetime/owner.js';
import { SessionEvents } from './lifetime/session-events.js';
import { ToolTimeouts } from './lifetime/tool-timeouts.js';
import { LIMITS } from './limits.js';
import { seedOf } from './matching/hash-chain.js';
import { HistoryLookup } from './matching/history-lookup.js';
import { SessionMatcher } from './matching/session-matcher.js';
import { forkPoint } from './persistence/fork-point.js';
import { LeasedSession } from './persistence/leased-session.js';
import { SessionFactory } from './persistence/session-factory.js';
import { type LoadedSession, SessionReader } from './persistence/session-reader.js';
import { readSessionRow, type SessionRow, type TurnRow } from './persistence/session-row.js';
import { ended, lost, stopped } from './refusals.js';
import type { SessionParts, SessionsLog, SessionsStore } from './session-parts.js';
import type {
  AttachRequest,
  NotedAttachment,
  SessionContent,
  SessionEvent,
  SessionProgress,
  Sessions,
} from './sessions.js';
import { Deliveries } from './turns/deliveries.js';
import type { LeasedTurn, LeasedTurnEnd } from './turns/leased-turn.js';
import { openIn } from './turns/pending-tool-calls.js';
import { TurnReaders } from './turns/turn-readers.js';
import { TurnStarter } from './turns/turn-starter.js';

export interface SessionsOptions {
  store: SessionsStore;
  log: SessionsLog;
  /** A session that nobody used for this long expires. */
  ttlMs: number;
  /** How long a client's results are waited for. */
  toolTimeoutMs: number;
  onToolTimeout: 'hibernate' | 'fail';
  now?: () => number;
  owner?: string;
  leaseMs?: number;
}

export function createSessions(options: SessionsOptions): Sessions {
  return new StoredSessions(options);
}

class StoredSessions implements Sessions {
  readonly #parts: SessionParts;
  readonly #hub: SessionEvents;
  readonly #reader: SessionReader;
  readonly #keeper: LeaseKeeper;
  readonly #maker: SessionFactory;
  readonly #attacher: SessionMatcher;
  readonly #timeouts: ToolTimeouts;
  readonly #deliveries: Deliveries;
  readonly #expiry: ExpiryWatch;
  readonly #mutex = new Mutex();
  readonly #running = new Map<string, LeasedTurn>();
  readonly #readers = new TurnReaders();

  constructor(options: SessionsOptions) {
    const { store, log, ttlMs, toolTimeoutMs, onToolTimeout, now = Date.now } = options;
    const { owner = ownerOfThisProcess(), leaseMs = LIMITS.leaseMs } = options;
    this.#hub = new SessionEvents(log);
    const parts: SessionParts = {
      store,
      log,
      ttlMs,
      toolTimeoutMs,
      onToolTimeout,
      now,
      node: `gateway:${owner}`,
      emit: (event) => {
        if (event.type === 'ended') this.#timeouts.forget(event.session);
        this.#hub.emit(event);
      },
    };
    const mutex = this.#mutex;
    const running = this.#running;
    const reader = new SessionReader(store);
    const keeper = new LeaseKeeper({
      leases: store.leases,
      owner,
      leaseMs,
      ttlMs,
      log,
      onBeat: () => Promise.all([...running.values()].map((turn) => turn.renew())),
    });
    const maker = new SessionFactory(parts, keeper);
    const isRunning = (session: string) => running.has(session);
    const deliveries = new Deliveries(parts, reader);
    const readers = this.#readers;
    const finder = new HistoryLookup(store, reader, deliveries, readers);
    const starter = new TurnStarter({
      parts,
      reader,
      deliveries,
      onBegin: (turn, held, reader) => this.#onBegin(turn, held, reader),
      onEnd: (turn, held, end) => this.#onEnd(turn, held, end),
      onWaiting: (held) => this.#park(held),
    });
    this.#parts = parts;
    this.#reader = reader;
    this.#keeper = keeper;
    this.#maker = maker;
    this.#timeouts = new ToolTimeouts({ parts, reader, keeper, mutex, isRunning });
    this.#expiry = new ExpiryWatch(parts, isRunning);
    this.#deliveries = deliveries;
    this.#attacher = new SessionMatcher({
      parts,
      reader,
      finder,
      maker,
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
    return this.#attacher.attach(request);
  }

  delivered(session: string, key: string): void {
    this.#readers.clear(session, key);
    this.#deliveries.delivered(session, key);
  }

  list(query: SessionQuery): Promise<Page<ListedSession>> {
    return this.#parts.store.sessions.list(query);
  }

  get(id: string): Promise<Session | undefined> {
    return this.#parts.store.sessions.get(id);
  }

  async read(id: string): Promise<SessionContent | undefined> {
    const loaded = await this.#reader.load(id);
    if (loaded === undefined) return undefined;
    const { session, record, log } = loaded;
    let open: ToolUseBlock[] = [];
    if (record.turn === undefined) {
      const batch = await this.#reader.pending(loaded);
      if (batch !== undefined) open = openIn(batch);
    }
    return { session, messages: log.messages, open, settled: await this.#reader.settledEnd(loaded) };
  }

  standing(session: Session): SessionProgress | undefined {
    const record = readSessionRow(session);
    if (record === undefined) return undefined;
    const { root, turn } = record;
    const running = this.#running.has(session.id);
    return {
      root,
      turn: turn && { running, stopped: turn.stopped === true, idempotency: turn.asks.idempotency },
    };
  }

  running(): string[] {
    return [...this.#running.keys()];
  }

  async fork(id: string, { keep }: { keep?: number } = {}): Promise<Session | undefined> {
    const made = await this.#mutex.run(id, () => this.#fork(id, keep));
    return made === undefined ? undefined : this.get(made);
  }

  async stop(id: string, by: string): Promise<boolean> {
    // One that is just beginning is there once it has begun.
    const turn = await this.#mutex.run(id, async () => this.#running.get(id) ?? this.#giveUp(id, by));
    if (typeof turn === 'boolean') return turn;
    turn.stop(stopped(id, by));
    await atMost(LIMITS.stopMs, turn.over);
    return true;
  }

  async delete(id: string, by: string): Promise<boolean> {
    const { store, emit } = this.#parts;
    // A turn that is just beginning is there, and ended as well.
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
    return this.#hub.subscribe(listener);
  }

  async close(): Promise<void> {
    this.#timeouts.close();
    this.#expiry.close();
    await this.#deliveries.close();
    await this.#keeper.close();
  }

  async #fork(id: string, keep: number | undefined): Promise<string | undefined> {
    const parent = await this.#reader.load(id);
    if (parent === undefined) return undefined;
    const { session, record } = parent;
    const { principal, model, engine, title } = session;
    const { root, user } = record;
    const marks = await this.#reader.marks(id);
    const seed = seedOf({ engine, root, user });
    const setup = await this.#reader.setup(parent);
    const point =
      keep === undefined ? { mark: marks.last, base: [], end: seed } : forkPoint(parent, marks, keep, engine);
    const held = await this.#maker.make({
      how: 'fork',
      by: { principal, model, engine, root, user },
      seed,
      title,
      origin: { parent, marks, mark: point.mark, setup },
      base: await this.#withResults(parent, point.base),
      end: point.end,
      onLost: () => undefined,
      // A client that names no session goes on with the one it has been talking to.
      indexed: false,
    });
    try {
      // What waits belongs to the last answer alone.
      const isWhole = point.mark === marks.last && point.base.length === 0;
      const batch = isWhole ? await this.#reader.pending(parent) : undefined;
      const results = [...(batch?.recorded.values() ?? [])].flatMap(({ id: call, runBy, result }) =>
        runBy === 'client' && result !== undefined ? [{ id: call, ...result }] : [],
      );
      if (results.length > 0) await this.#parts.store.toolCalls.record(held.id, results, principal);
      const blocks = isWhole ? await this.#reader.saidMeanwhile(parent) : [];
      const { pending, turns } = held.record;
      if (pending !== undefined && blocks.length > 0) {
        const record = { pending: { ...pending, said: [...pending.said, turns + 1] } };
        await held.write({ turns: [{ kind: 'said', blocks }], record });
      }
    } finally {
      await this.#park(held);
    }
    return held.id;
  }

  /** The calls of a turn that broke off stay with their session: a fork is told what became of them. */
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

  /** Under the session's mutex: who attaches meanwhile sees the turn whole, or not at all. */
  #onEnd(turn: LeasedTurn, held: LeasedSession, end: LeasedTurnEnd): Promise<void> {
    const { id, principal } = held;
    const { store, node, emit } = this.#parts;
    return this.#mutex.run(id, async () => {
      if (this.#running.get(id) === turn) this.#running.delete(id);
      // An answer that is whole is still to be given to its readers.
      if (end === 'broken' || end === 'discarded') this.#readers.clear(id, turn.key);
      if (end === 'discarded') await store.sessions.delete(id, node);
      if (end === 'broken' && turn.stopped) await this.#noteStop(held);
      // One that was deleted or lost is not this process's to look after.
      if (turn.signal.aborted && !turn.stopped) await this.#keeper.release(held.lease);
      else await this.#park(held);
      emit({ type: 'turn-ended', session: id, principal, end: end === 'discarded' ? 'broken' : end });
      if (end !== 'discarded') return;
      this.#expiry.forget(id);
      emit({ type: 'ended', session: id, principal, why: 'deleted' });
    });
  }

  /** The turn that broke off, if there is one: nobody goes on with it by itself. */
  async #giveUp(id: string, by: string): Promise<boolean> {
    const head = await this.#reader.head(id);
    if (!isLeftOpen(head?.record)) return false;
    const grant = await this.#keeper.acquire(id);
    // Who holds it goes on with it.
    if (!grant.granted) return false;
    let held: LeasedSession | undefined;
    try {
      const loaded = await this.#reader.load(id);
      if (loaded === undefined || !isLeftOpen(loaded.record)) return false;
      const { session, record, log } = loaded;
      held = new LeasedSession(this.#parts, session, record, log, grant.lease);
      await held.write({ record: { turn: { ...record.turn, stopped: true } } });
      this.#parts.emit({ type: 'turn-left', session: id, principal: session.principal, by });
      return true;
    } finally {
      if (held === undefined) await this.#keeper.release(grant.lease);
      else await this.#park(held);
    }
  }

  async #noteStop(held: LeasedSession): Promise<void> {
    const { turn } = held.record;
    try {
      if (turn !== undefined) await held.write({ record: { turn: { ...turn, stopped: true } } });
    } catch (error) {
      this.#parts.log.warn({ err: error, session: held.id }, 'that a turn was stopped could not be noted');
    }
  }

  /** Gives the lease back; whatever still waits is watched. */
  async #park(held: LeasedSession): Promise<void> {
    const { id, principal, record, lease } = held;
    this.#expiry.touch(id, principal);
    if (record.pending !== undefined && record.turn === undefined) {
      this.#timeouts.watch(id, record.pending.until);
    }
    await this.#keeper.release(lease);
  }
}

function isLeftOpen(record: SessionRow | undefined): record is SessionRow & { turn: TurnRow } {
  return record?.turn !== undefined && record.turn.stopped !== true;
}
