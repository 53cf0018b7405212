/**
 * Everything that happens, in one numbered row, and who reads it. A source
 * publishes an event and continues: encoding and writing happen later, once for all readers that see the
 * same. Turns that run are kept as they stand, so that one who comes late sees them whole.
 */
import { createHash, randomBytes } from 'node:crypto';
import type {
  AgentActivity,
  ObservedTurn,
  TurnOutcome,
  TurnSink,
  TurnWatcher,
} from '../../../activity/activity.js';
import { encodeActivity, encodeMessage } from '../../../activity/encode.js';
import type { ActivityWire } from '../../../activity/wire.js';
import type { Log } from '../../../observability/log.js';
import type { Approval, ApprovalCoordinator } from '../../../permissions/approvals.js';
import type { ConsoleEvent, Snapshot } from '../wire/events.js';
import { ActivityRecorder, endToWire } from './activity-record.js';
import { approvalToWire } from './approval-wire.js';
import { type Audience, EventRing, type RingEntry } from './event-ring.js';
import { EVENT_LIMITS, type EventLimits } from './limits.js';
import { SharedBytes } from './shared-bytes.js';
import { TurnMirror } from './turn-mirror.js';
import { boundTurns, TurnSnapshot } from './turn-snapshot.js';
import { classOf, isFor, sees, type Viewer } from './viewer.js';

type Distributed<Event> = Event extends unknown ? Omit<Event, 'id' | 'prev'> : never;
/** An event before it has its number. */
export type NewEvent = Distributed<ConsoleEvent>;

export interface EventReader {
  readonly viewer: Viewer;
  /** Never throws and never waits. */
  write(bytes: Buffer): void;
}

interface EventHubOptions {
  approvals: Pick<ApprovalCoordinator, 'list' | 'subscribe'>;
  log: Log;
  limits?: Partial<EventLimits>;
  /** Of a node: its instance, which other nodes know too. Ids of events begin with what is made of it. */
  instance?: string | undefined;
  now?: () => number;
}

interface Waiting extends Pick<RingEntry, 'audience' | 'forNodes' | 'view'> {
  event: NewEvent;
}

interface ReaderPosition {
  reader: EventReader;
  /** The id of the event that it was given last. */
  last: string;
}

const PAGE = 500;
/** A snapshot says what time it is: it is not given to others for longer than this. */
const SHARED_MS = 1_000;
/** Snapshots, each as large as it may be. */
const SHARED = 4;

export class EventHub implements TurnWatcher {
  readonly limits: EventLimits;
  readonly #options: EventHubOptions;
  readonly #now: () => number;
  readonly #epoch: string;
  readonly #ring: EventRing;
  readonly #readers = new Map<EventReader, ReaderPosition>();
  readonly #turns = new Map<string, TurnSnapshot>();
  readonly #mirrors = new Set<TurnMirror>();
  readonly #onIdle = new Set<() => void>();
  /** What readers were given first, for others that come before anything else happens. */
  readonly #shared: SharedBytes;
  #seq = 0;
  #waiting: Waiting[] = [];
  #flushing: NodeJS.Immediate | undefined;
  /** Until then events are kept although there is no reader. */
  #keepUntil = 0;

  constructor(options: EventHubOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#epoch = options.instance === undefined ? randomBytes(6).toString('hex') : epochOf(options.instance);
    this.limits = { ...EVENT_LIMITS, ...options.limits };
    this.#ring = new EventRing({ events: this.limits.ringEvents, bytes: this.limits.ringBytes });
    const bytes = SHARED * this.limits.snapshotBytes;
    this.#shared = new SharedBytes({ bytes, ms: SHARED_MS, now: this.#now });
  }

  /** Somebody reads, or may come back to what happens now: it is worth the effort to say more. */
  get watched(): boolean {
    return this.#readers.size > 0 || this.#now() < this.#keepUntil;
  }

  /** The turn of the session that runs here; undefined where none does. */
  turnOf(session: string): string | undefined {
    for (const turn of this.#turns.values()) if (turn.session === session) return turn.id;
    return undefined;
  }

  begin(turn: ObservedTurn): TurnSink {
    try {
      return this.#begin(turn);
    } catch (error) {
      this.#options.log.error({ err: error, session: turn.session }, 'bug in the event stream');
      return { observe: () => {}, end: () => {}, takeRecord: () => undefined };
    }
  }

  /** Never throws. `audience`: the key that it is of; null for everyone. */
  publish(audience: Audience, event: NewEvent): void {
    this.#publish({ audience, forNodes: isForNodes(event), event });
  }

  /** Turns of another node, as it shows them to viewers of that class. The caller removes it. */
  mirror(view: string): TurnMirror {
    const mirror: TurnMirror = new TurnMirror({
      view,
      limits: this.limits,
      publish: (event) => this.#publish({ audience: null, view, event }),
      onBegin: (session) => this.#supersede(session, mirror),
    });
    this.#mirrors.add(mirror);
    this.#shared.clear();
    return mirror;
  }

  /** Nobody is told of its turns any more: who comes back begins with a snapshot. */
  remove(mirror: TurnMirror): void {
    this.#mirrors.delete(mirror);
    this.#flush();
    this.#lose();
  }

  /**
   * What viewers of that class were told is not what is true: each that reads is given a snapshot. Rejects as the
   * store does.
   */
  async resync(view: string): Promise<void> {
    const isOfView = ({ reader }: ReaderPosition) => classOf(reader.viewer) === view;
    this.#flush();
    this.#lose();
    const first = [...this.#readers.values()].find(isOfView);
    if (first === undefined) return;
    await this.#withSnapshot(first.reader.viewer, (id, make) => {
      const bytes = frame(id, null, JSON.stringify(make()).slice(1));
      for (const position of [...this.#readers.values()].filter(isOfView)) {
        position.last = id;
        position.reader.write(bytes);
      }
    });
  }

  /** Calls back when no turn runs here, once, after readers have been told. */
  onceIdle(listener: () => void): void {
    if (this.#turns.size === 0) listener();
    else this.#onIdle.add(listener);
  }

  #publish(waiting: Waiting): void {
    if (!this.watched) {
      this.#lose();
      return;
    }
    const last = this.#waiting.at(-1);
    if (last !== undefined && isAlike(last, waiting) && joined(last.event, waiting.event)) return;
    this.#waiting.push(waiting);
    this.#flushing ??= setImmediate(() => {
      this.#flushing = undefined;
      this.#flush();
    });
  }

  /**
   * From now on the reader is given everything that it may see: what it has missed since `lastId`
   * where that is still known, else a snapshot first. Rejects as the store does. Does nothing once
   * the signal has fired.
   */
  async open(reader: EventReader, lastId: string | undefined, signal: AbortSignal): Promise<void> {
    this.#flush();
    const missed = this.#missed(lastId);
    if (missed !== undefined && lastId !== undefined) {
      const position = { reader, last: lastId };
      this.#readers.set(reader, position);
      this.#give(position, missed, this.#shared);
      return;
    }
    await this.#withSnapshot(reader.viewer, (id, make) => {
      if (signal.aborted) return;
      this.#readers.set(reader, { reader, last: id });
      reader.write(
        this.#shared.of(`snapshot ${classOf(reader.viewer)}`, () =>
          frame(id, null, JSON.stringify(make()).slice(1)),
        ),
      );
    });
  }

  leave(reader: EventReader): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return;
    this.#keepUntil = this.#now() + this.limits.keepMs;
    this.#shared.clear();
  }

  /** Once for all: it is no part of what can be replayed. */
  ping(): void {
    if (this.#readers.size === 0) return;
    this.#flush();
    const event: NewEvent = { type: 'ping', now: this.#time() };
    const entry = { seq: this.#next(), audience: null, forNodes: true, tail: JSON.stringify(event).slice(1) };
    const made = new SharedBytes();
    for (const position of [...this.#readers.values()]) this.#give(position, [entry], made);
  }

  /** As of the event `id`. */
  snapshot(viewer: Viewer): Promise<{ id: string; snapshot: Snapshot }> {
    return this.#withSnapshot(viewer, (id, make) => ({ id, snapshot: make() }));
  }

  /** `use` is called in the very moment that the snapshot is of: later events follow it for every reader. */
  async #withSnapshot<T>(viewer: Viewer, use: (id: string, make: () => Snapshot) => T): Promise<T> {
    const changed = new Map<string, Approval>();
    const unsubscribe = this.#options.approvals.subscribe(({ approval }) => {
      changed.set(approval.id, approval);
    });
    try {
      const pending = await this.#pending(viewer);
      this.#flush();
      for (const approval of changed.values())
        if (isFor(viewer, approval.principal)) pending.set(approval.id, approval);
      return use(this.#id(this.#seq), () => this.#snapshotOf(viewer, pending));
    } finally {
      unsubscribe();
    }
  }

  #snapshotOf(viewer: Viewer, known: ReadonlyMap<string, Approval>): Snapshot {
    const approvals = [...known.values()].filter(({ state }) => state === 'pending').map(approvalToWire);
    const own = [...this.#turns.values()].filter(({ principal }) => isFor(viewer, principal));
    const turns = [...this.#mirrored(viewer), ...own];
    const { snapshotBytes } = this.limits;
    const room = snapshotBytes - Buffer.byteLength(JSON.stringify(approvals));
    return {
      type: 'snapshot',
      now: this.#time(),
      approvals,
      turns: boundTurns(
        turns.map((turn) => turn.toWire()),
        Math.max(room, snapshotBytes / 4),
      ),
    };
  }

  #mirrored(viewer: Viewer): TurnSnapshot[] {
    const view = classOf(viewer);
    return [...this.#mirrors].flatMap((mirror) => (mirror.view === view ? mirror.turns : []));
  }

  /**
   * A session has one owner: where a turn of it begins, one that another node was running is over. Mirrors of
   * other viewers show the same turn, and hear of it by themselves.
   */
  #supersede(session: string, by?: TurnMirror): void {
    for (const mirror of this.#mirrors)
      if (mirror !== by && (by === undefined || mirror.view === by.view)) mirror.drop(session);
  }

  async #pending({ principal, all, node }: Viewer): Promise<Map<string, Approval>> {
    const found = new Map<string, Approval>();
    // Nodes have them from the store.
    if (node === true) return found;
    const query = { state: 'pending', limit: PAGE, ...(all ? {} : { principal }) } as const;
    for (let cursor: string | undefined; ; ) {
      const page = await this.#options.approvals.list(cursor === undefined ? query : { ...query, cursor });
      for (const approval of page.items) found.set(approval.id, approval);
      cursor = page.next;
      if (cursor === undefined) return found;
    }
  }

  #begin(turn: ObservedTurn): TurnSink {
    const { id, session, principal, model } = turn;
    const message = encodeMessage(turn.message, this.limits);
    const began = { session, turn: id, began_at: this.#time(), model, message };
    const live = new TurnSnapshot(principal, began, this.limits);
    this.#turns.set(id, live);
    this.#supersede(session);
    this.publish(principal, { type: 'turn', state: 'began', ...began });
    const record = new ActivityRecorder(live);
    return {
      observe: (activity) => this.#observe(live, activity),
      end: (outcome) => {
        record.end(outcome);
        this.#end(live, outcome);
      },
      takeRecord: (outcome) => record.take(outcome),
    };
  }

  #observe(live: TurnSnapshot, activity: AgentActivity): void {
    if (this.#turns.get(live.id) !== live) return;
    // Most of what happens is one more piece of a text, and mostly nobody reads it.
    if (!this.watched && live.extend(activity)) {
      this.#lose();
      return;
    }
    const { agent, ...body } = encodeActivity(activity, this.limits);
    const chunk = { ...body, turn: live.id, agent, at: this.#time() };
    live.add(chunk);
    this.publish(live.principal, chunk);
  }

  #end(live: TurnSnapshot, outcome: TurnOutcome): void {
    if (this.#turns.get(live.id) !== live) return;
    this.#turns.delete(live.id);
    const { principal, session, id: turn } = live;
    this.publish(principal, { type: 'turn', state: 'ended', session, turn, ...endToWire(outcome) });
    if (this.#turns.size > 0 || this.#onIdle.size === 0) return;
    this.#flush();
    for (const listener of this.#onIdle) listener();
    this.#onIdle.clear();
  }

  /** Nobody reads what happens now, nor may come back to it. */
  #lose(): void {
    this.#waiting = [];
    this.#ring.lose(this.#next());
  }

  #flush(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    const entries = waiting.map(({ event, ...whose }): RingEntry => {
      const entry = { seq: this.#next(), ...whose, tail: JSON.stringify(event).slice(1) };
      this.#ring.push(entry);
      return entry;
    });
    const made = new SharedBytes();
    for (const position of [...this.#readers.values()]) this.#give(position, entries, made);
  }

  /** `made`: what was made of the same entries for readers before this one. */
  #give(position: ReaderPosition, entries: readonly RingEntry[], made: SharedBytes): void {
    const { reader, last } = position;
    const { viewer } = reader;
    const seen = entries.filter((entry) => sees(viewer, entry));
    const newest = seen.at(-1);
    if (newest === undefined) return;
    position.last = this.#id(newest.seq);
    const bytes = made.of(`${last} ${classOf(viewer)}`, () =>
      Buffer.concat(
        seen.map(({ seq, tail }, index) => {
          const before = seen[index - 1];
          return frame(this.#id(seq), before === undefined ? last : this.#id(before.seq), tail);
        }),
      ),
    );
    reader.write(bytes);
  }

  /** Undefined where it is unknown what the reader has missed. */
  #missed(lastId: string | undefined): readonly RingEntry[] | undefined {
    const [, epoch, digits] = /^([0-9a-f]+)\.(\d{1,15})$/.exec(lastId ?? '') ?? [];
    const seq = Number(digits);
    if (epoch !== this.#epoch || seq > this.#seq) return undefined;
    return this.#ring.since(seq);
  }

  /** The number of the current state: no reader gets an older one any more. */
  #next(): number {
    this.#shared.clear();
    this.#seq += 1;
    return this.#seq;
  }

  #id(seq: number): string {
    return `${this.#epoch}.${seq}`;
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }
}

/** The same on every node, from what they know of each other. */
export const epochOf = (instance: string): string =>
  createHash('sha256').update(instance).digest('hex').slice(0, 12);

/** Of what happens here, all that other nodes do not hear of from the store. */
const isForNodes = (event: NewEvent): boolean => 'turn' in event || event.type === 'request';

const isAlike = (last: Waiting, next: Waiting): boolean =>
  last.audience === next.audience && last.view === next.view;

function frame(id: string, prev: string | null, tail: string): Buffer {
  const before = prev === null ? 'null' : `"${prev}"`;
  return Buffer.from(`id: ${id}\ndata: {"id":"${id}","prev":${before},${tail}\n\n`);
}

/** True where `next` only continues `last`, and was appended to it. */
function joined(last: NewEvent, next: NewEvent): boolean {
  if (!isPiece(last) || !isPiece(next) || last.type !== next.type) return false;
  if (last.turn !== next.turn || last.agent?.id !== next.agent?.id) return false;
  if (last.type === 'tool_input_delta') {
    if (next.type !== 'tool_input_delta' || last.tool_use_id !== next.tool_use_id) return false;
    last.delta += next.delta;
  } else if (next.type !== 'tool_input_delta') last.text += next.text;
  return true;
}

type Piece = Extract<ActivityWire, { type: 'text' | 'thinking' | 'tool_input_delta' }>;

const PIECES: ReadonlySet<string> = new Set(['text', 'thinking', 'tool_input_delta']);

function isPiece(event: NewEvent): event is Piece {
  return PIECES.has(event.type);
}
