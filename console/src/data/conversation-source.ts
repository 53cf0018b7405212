/**
 * One conversation, assembled from the fetched transcript and the events. The transcript is fetched
 * when a component subscribes, when a turn begins or ends, and when the session changes while no turn
 * runs. What a turn does meanwhile comes from the events and is aligned with the stored part of it.
 */
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import type {
  MessageWire,
  RecordedTurnWire,
  SessionContentWire,
  SessionWire,
} from '../../../src/server/console-api/wire/sessions.js';
import { ApiError, type Request } from './api.js';
import type { Timers } from './events/ports.js';
import type { ConsoleState, StateStore, TurnView } from './reducer/console-state.js';
import { approvalsByCall, drawTurns, twinOf } from './reducer/draw-conversation.js';
import { equal } from './reducer/equal.js';
import { type HistoryTurn, HistoryTurns } from './reducer/history.js';
import { lacksMedia } from './reducer/parts.js';
import { recordedParts } from './reducer/turns.js';
import type { Part, ToolCard } from './reducer/view.js';

export interface ConversationView {
  status: 'loading' | 'ready' | 'missing' | 'failed';
  /** Of `failed`. */
  problem: string | undefined;
  session: SessionWire | undefined;
  parts: readonly Part[];
  /** Questions of the conversation as they were fetched, by their ids. */
  approvals: ReadonlyMap<string, ApprovalWire>;
  /** A turn runs. */
  running: boolean;
  /** Undefined where everything is there. Never rejects: what could not be fetched can be asked for again. */
  loadEarlier: (() => Promise<void>) | undefined;
}

export const NO_CONVERSATION: ConversationView = {
  status: 'ready',
  problem: undefined,
  session: undefined,
  parts: [],
  approvals: new Map(),
  running: false,
  loadEarlier: undefined,
};

const LIMITS = {
  /** Messages that are fetched at once. */
  page: 200,
  /** Decisions of a conversation that its cards can show. */
  approvals: 500,
  /** Cards of turns that ran while the page was open: the transcript lacks some of their details. */
  cards: 2_000,
  retryMs: 3_000,
} as const;

interface SourcePorts extends Pick<Timers, 'after'> {
  request: Request;
  store: StateStore;
}

interface Recorded {
  wire: RecordedTurnWire;
  parts: readonly Part[];
}

interface Loaded {
  /** Index of the first message; up to `total`, without instructions. */
  from: number;
  total: number;
  messages: readonly MessageWire[];
  openCalls: ReadonlySet<string>;
  records: ReadonlyMap<number, Recorded>;
  approvals: ReadonlyMap<string, ApprovalWire>;
}

/** What the parts of the transcript were made of. */
interface Base {
  from: readonly unknown[];
  turns: readonly HistoryTurn[];
}

export class ConversationSource {
  readonly #id: string;
  readonly #ports: SourcePorts;
  readonly #listeners = new Set<() => void>();
  #loaded: Loaded | undefined;
  #session: SessionWire | undefined;
  #failure: Pick<ConversationView, 'status' | 'problem'> | undefined;
  /** The newest turn as the events reported it, until the transcript has all of it. */
  #live: TurnView | undefined;
  /** The turn vanished from the events without an end. */
  #vanished = false;
  #cards = new Map<string, ToolCard>();
  /** Turns by their ids while they ran. */
  readonly #names = new Map<number, string>();
  readonly #turns = new HistoryTurns();
  #base: Base | undefined;
  #shown: ConversationView = { ...NO_CONVERSATION, status: 'loading' };
  #fetching: AbortController | undefined;
  #fetchAgain = false;
  #cancelRetry: (() => void) | undefined;
  #stop: () => void = () => {};

  constructor(id: string, ports: SourcePorts) {
    this.#id = id;
    this.#ports = ports;
  }

  readonly get = (): ConversationView => this.#shown;

  /** Active while it has subscribers. */
  readonly subscribe = (listener: () => void): (() => void) => {
    const own = (): void => listener();
    this.#listeners.add(own);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#end();
    };
  };

  #start(): void {
    const { store } = this.#ports;
    let before = store.get();
    this.#stop = store.subscribe(() => {
      const [was, now] = [before, store.get()];
      before = now;
      this.#onState(was, now);
    });
    this.#live = before.turns.get(this.#id) ?? this.#live;
    this.#vanished = this.#live !== undefined && !before.turns.has(this.#id);
    this.#draw();
    void this.#fetch();
  }

  #end(): void {
    this.#stop();
    this.#fetching?.abort();
    this.#fetching = undefined;
    this.#fetchAgain = false;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }

  #onState(was: ConsoleState, now: ConsoleState): void {
    const [turnBefore, turn] = [was.turns.get(this.#id), now.turns.get(this.#id)];
    const [sessionBefore, session] = [was.sessions.get(this.#id), now.sessions.get(this.#id)];
    let fetch = now.connection === 'live' && was.connection !== 'live' && this.#failure !== undefined;
    if (turn !== turnBefore) {
      this.#onTurn(turn);
      fetch ||= turn?.turn !== turnBefore?.turn || turn?.ended !== turnBefore?.ended;
      // With each step the transcript grows; events have no bytes.
      fetch ||= turn !== undefined && turn.steps !== turnBefore?.steps && this.#lacksMedia(turn);
    }
    if (session !== sessionBefore) {
      if (session === null) this.#failure = { status: 'missing', problem: undefined };
      else this.#session = session ?? this.#session;
      // While a turn runs, the events report what it does.
      fetch ||= session !== null && (turn === undefined || turn.ended !== undefined);
    }
    if (fetch) void this.#fetch();
    if (turn !== turnBefore || session !== sessionBefore || now.approvals !== was.approvals) this.#draw();
  }

  #onTurn(turn: TurnView | undefined): void {
    this.#vanished = turn === undefined;
    if (turn === undefined) return;
    if (this.#live !== undefined && this.#live.turn !== turn.turn) this.#remember(this.#live);
    this.#live = turn;
  }

  /** One fetch at a time; a change in the meantime causes another one afterwards. */
  async #fetch(): Promise<void> {
    if (this.#fetching !== undefined) {
      this.#fetchAgain = true;
      return;
    }
    const abort = new AbortController();
    this.#fetching = abort;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    // A transcript that was requested after the end of the turn has all of it.
    const over = this.#live?.ended !== undefined || this.#vanished ? this.#live : undefined;
    try {
      const [content, approvals] = await Promise.all([
        this.#page(`limit=${LIMITS.page}`, abort.signal),
        this.#approvals(abort.signal),
      ]);
      if (this.#fetching !== abort) return;
      this.#take(content, approvals);
      if (over !== undefined && over === this.#live) this.#settle(over);
    } catch (error) {
      if (this.#fetching !== abort) return;
      this.#fail(error);
    }
    this.#fetching = undefined;
    this.#draw();
    if (!this.#fetchAgain) return;
    this.#fetchAgain = false;
    void this.#fetch();
  }

  #page(query: string, signal?: AbortSignal): Promise<SessionContentWire> {
    const path = `/api/sessions/${encodeURIComponent(this.#id)}?${query}`;
    return this.#ports.request<SessionContentWire>('GET', path, undefined, signal);
  }

  /** Decisions for the cards; empty where they cannot be fetched. */
  async #approvals(signal: AbortSignal): Promise<Iterable<ApprovalWire>> {
    const query = `session=${encodeURIComponent(this.#id)}&state=all&limit=${LIMITS.approvals}`;
    try {
      const { data } = await this.#ports.request<{ data: ApprovalWire[] }>(
        'GET',
        `/api/approvals?${query}`,
        undefined,
        signal,
      );
      return data;
    } catch {
      return this.#loaded?.approvals.values() ?? [];
    }
  }

  #take(content: SessionContentWire, approvals: Iterable<ApprovalWire>): void {
    const { messages, open_calls, total, turns, ...session } = content;
    const before = this.#loaded;
    const from = Math.max(0, total - LIMITS.page);
    const page = kept(before?.messages ?? [], messages, ({ index }) => index);
    const joins = before !== undefined && isMore(before, { from, total, page });
    // After a compaction all indexes differ.
    if (before !== undefined && total < before.total) this.#names.clear();
    // A late answer must not revive a deleted conversation.
    const isGone = this.#ports.store.get().sessions.get(this.#id) === null;
    this.#failure = isGone ? { status: 'missing', problem: undefined } : undefined;
    this.#session = session;
    this.#loaded = {
      from: joins ? Math.min(from, before.from) : from,
      total,
      messages: joins ? [...before.messages.filter(({ index }) => index < from), ...page] : page,
      openCalls: new Set(open_calls.map(({ id }) => id)),
      records: new Map([...(joins ? before.records : []), ...recordsOf(turns, before?.records)]),
      approvals: keptApprovals(before?.approvals ?? NO_CONVERSATION.approvals, [...approvals]),
    };
  }

  /** The transcript has the text; an interrupted part is shown as the events reported it. */
  #settle(live: TurnView): void {
    const end = live.ended?.end;
    if (end !== undefined && end !== 'complete' && end !== 'parked') return;
    this.#remember(live);
    this.#live = undefined;
    this.#vanished = false;
  }

  #remember(live: TurnView): void {
    const twin = twinOf(this.#baseOf(false).turns, live);
    if (twin !== undefined) this.#names.set(twin.turn, live.turn);
    const cards = new Map(this.#cards);
    for (const part of live.parts) if (part.kind === 'tool') cards.set(part.card.id, part.card);
    for (const id of cards.keys()) {
      if (cards.size <= LIMITS.cards) break;
      cards.delete(id);
    }
    this.#cards = cards;
  }

  #fail(error: unknown): void {
    const status = error instanceof ApiError ? error.status : 0;
    if (status === 404) {
      // The events may name a conversation before it is stored.
      if (this.#live === undefined) this.#failure = { status: 'missing', problem: undefined };
      return;
    }
    const problem = error instanceof Error ? error.message : String(error);
    this.#failure = { status: 'failed', problem };
    if (status >= 400 && status < 500) return;
    this.#cancelRetry = this.#ports.after(LIMITS.retryMs, () => void this.#fetch());
  }

  readonly #loadEarlier = async (): Promise<void> => {
    const from = this.#loaded?.from ?? 0;
    if (from === 0) return;
    try {
      const { messages, total, turns } = await this.#page(`before=${from}&limit=${LIMITS.page}`);
      const loaded = this.#loaded;
      // Compacted in the meantime, or requested twice.
      if (loaded?.from !== from || total < loaded.total) return;
      this.#loaded = {
        ...loaded,
        from: Math.max(0, from - LIMITS.page),
        messages: [...messages, ...loaded.messages],
        records: new Map([...loaded.records, ...recordsOf(turns, loaded.records)]),
      };
      this.#draw();
    } catch {
      // It can be asked for again.
    }
  };

  /** An event named media, whose bytes only the transcript has. */
  #lacksMedia(turn: TurnView): boolean {
    const written = twinOf(this.#baseOf(true).turns, turn)?.parts ?? [];
    return lacksMedia(turn.parts, written);
  }

  #draw(): void {
    const live = this.#live;
    const running = live !== undefined && !this.#vanished ? live.ended === undefined : this.#session?.running;
    const { turns } = this.#baseOf(running === true);
    const parts = drawTurns(turns, live);
    const before = this.#shown;
    const failure =
      this.#failure?.status === 'missing' || this.#loaded === undefined ? this.#failure : undefined;
    const waits = this.#loaded === undefined && live === undefined;
    this.#shown = {
      status: failure?.status ?? (waits ? 'loading' : 'ready'),
      problem: failure?.problem,
      session: this.#session,
      parts: reuseParts(before.parts, withNote(parts, this.#session, running === true)),
      approvals: this.#loaded?.approvals ?? NO_CONVERSATION.approvals,
      running: running === true,
      loadEarlier: (this.#loaded?.from ?? 0) > 0 ? this.#loadEarlier : undefined,
    };
    for (const listener of [...this.#listeners]) listener();
  }

  /** Rebuilt only where an input changed: a running turn changes with every frame. */
  #baseOf(running: boolean): Base {
    const loaded = this.#loaded;
    const heard = [...this.#ports.store.get().approvals.values()].filter(
      ({ session }) => session === this.#id,
    );
    const from = [loaded, running, this.#cards, ...heard];
    const before = this.#base;
    if (
      before !== undefined &&
      from.length === before.from.length &&
      from.every((each, at) => each === before.from[at])
    )
      return before;
    const turns = this.#turns.of(loaded?.messages ?? [], {
      nameOf: (turn) => this.#names.get(turn) ?? `turn ${turn}`,
      openCalls: loaded?.openCalls ?? new Set(),
      approvals: approvalsByCall(loaded?.approvals.values(), heard),
      running,
      cards: this.#cards,
      records: partsByTurn(loaded?.records),
    });
    this.#base = { from, turns };
    return this.#base;
  }
}

/** `known`: those that are the same are not made anew. */
function recordsOf(
  turns: readonly RecordedTurnWire[],
  known: ReadonlyMap<number, Recorded> = new Map(),
): [number, Recorded][] {
  return turns.map((wire) => {
    const before = known.get(wire.turn);
    const same = before !== undefined && equal(before.wire, wire);
    return [wire.turn, same ? before : { wire, parts: recordedParts(wire) }];
  });
}

function partsByTurn(
  records: ReadonlyMap<number, Recorded> | undefined,
): ReadonlyMap<number, readonly Part[]> {
  return new Map([...(records ?? [])].map(([turn, { parts }]) => [turn, parts]));
}

/** The old objects wherever they are equal: what is made of them need not be made again. */
function kept<T>(before: readonly T[], next: readonly T[], keyOf: (each: T) => unknown): readonly T[] {
  const known = new Map(before.map((each) => [keyOf(each), each]));
  return next.map((each) => {
    const old = known.get(keyOf(each));
    return old !== undefined && equal(old, each) ? old : each;
  });
}

/** The old map where everything in it is the same. */
function keptApprovals(
  before: ReadonlyMap<string, ApprovalWire>,
  next: readonly ApprovalWire[],
): ReadonlyMap<string, ApprovalWire> {
  const all = kept([...before.values()], next, ({ id }) => id);
  const same = all.length === before.size && all.every((each) => before.get(each.id) === each);
  return same ? before : new Map(all.map((each) => [each.id, each]));
}

/** Whether the newest page continues the known messages: after a compaction it does not. */
function isMore(
  known: Loaded,
  { from, total, page }: { from: number; total: number; page: readonly MessageWire[] },
): boolean {
  if (known.from > from || known.total < from || total < known.total) return false;
  const first = page.find(({ index }) => index < known.total);
  return first === undefined || known.messages.includes(first);
}

/** The same row where every part is the same. */
function reuseParts(before: readonly Part[], next: readonly Part[]): readonly Part[] {
  return before.length === next.length && next.every((part, at) => part === before[at]) ? before : next;
}

function withNote(
  parts: readonly Part[],
  session: SessionWire | undefined,
  running: boolean,
): readonly Part[] {
  const last = parts.at(-1);
  if (session?.interrupted !== true || running || last === undefined || last.kind === 'note') return parts;
  return [...parts, { kind: 'note', key: `${last.key}~interrupted`, note: { type: 'interrupted' } }];
}
