/**
 * Changes of all nodes, read from their table. A notification only says that there is something to read: what is
 * not notified is found by looking, often until notifications are shown to arrive, and every few seconds after.
 */
import { isObject } from '../../core/is-object.js';
import type { Bus, Change } from '../bus.js';
import { json, optionalText, type Row, text, toJson } from '../sql/rows.js';
import { readRule } from '../sql/rules.js';
import type { Context } from './context.js';
import type { Params } from './database.js';
import { Listener, type ListenerLimits } from './listener.js';

export interface BusLimits extends ListenerLimits {
  /** Between two looks while notifications are not shown to arrive, and while they are. */
  unprovenPollMs: number;
  pollMs: number;
}

const BUS_LIMITS: BusLimits = {
  beatMs: 10_000,
  unprovenBeatMs: 2000,
  probeMs: 5000,
  reconnectMs: { first: 100, most: 5000 },
  unprovenPollMs: 300,
  pollMs: 5000,
};

const PAGE = 500;
/** After a crash of the server its transactions are numbered from where its disk was: what was read last is read again. */
const READ_AGAIN_MS = 120_000;

/** What is visible now and was not in the snapshot of before: a transaction that ended late is not missed. */
const SINCE = `xid >= pg_snapshot_xmin(?::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, ?::pg_snapshot)`;
const LATELY = `at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${READ_AGAIN_MS}`;
const POSITION = `SELECT pg_current_snapshot()::text AS snapshot, pg_postmaster_start_time()::text AS server`;

interface Position {
  snapshot: string;
  /** Of which start of the server. */
  server: string;
}

export class PostgresBus implements Bus {
  readonly #context: Context;
  readonly #limits: BusLimits;
  readonly #listeners = new Set<(changes: readonly Change[]) => void>();
  #listener: Listener | undefined;
  #position: Position | undefined;
  #starting: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(context: Context, limits: Partial<BusLimits> = {}) {
    this.#context = context;
    this.#limits = { ...BUS_LIMITS, ...limits };
  }

  get proven(): boolean {
    return this.#listener?.proven === true;
  }

  async subscribe(listener: (changes: readonly Change[]) => void): Promise<() => void> {
    this.#starting ??= this.#start();
    await this.#starting.catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async publish(change: Extract<Change, { kind: 'reload' }>): Promise<void> {
    const { kind, by, origin } = change;
    const sql = 'INSERT INTO changes (kind, what, id, body) VALUES (?, ?, ?, ?)';
    await this.#context.database.run(sql, [kind, 'update', origin, toJson({ by })]);
    this.#context.notifier.wake();
  }

  /** Before the database is closed. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#listener?.close();
    await this.#looking;
  }

  async #start(): Promise<void> {
    this.#position = readPosition(await this.#context.database.get(POSITION));
    if (this.#closed) return;
    const { database, notifier } = this.#context;
    this.#listener = new Listener({
      create: () => database.createClient(),
      notifier,
      limits: this.#limits,
      onWake: () => this.#look(),
      onProven: () => this.#look(),
    });
    this.#plan();
  }

  /** One look at a time; what happens meanwhile is for the next. */
  #look(): void {
    if (this.#closed) return;
    if (this.#looking !== undefined) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#again = false;
    this.#looking = this.#read()
      // The next look is soon, from the same position.
      .catch((error: unknown) => {
        if (!this.#closed && error instanceof TypeError) this.#context.onError(error);
      })
      .finally(() => {
        this.#looking = undefined;
        if (this.#again) this.#look();
        else this.#plan();
      });
  }

  #plan(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const { pollMs, unprovenPollMs } = this.#limits;
    this.#timer = setTimeout(() => this.#look(), this.proven ? pollMs : unprovenPollMs).unref();
  }

  async #read(): Promise<void> {
    const { database } = this.#context;
    const before = this.#position;
    const now = readPosition(await database.get(POSITION));
    if (before?.snapshot === now.snapshot && before.server === now.server) return;
    const isSame = before !== undefined && before.server === now.server;
    const where = isSame ? SINCE : LATELY;
    const params: Params = isSame ? [before.snapshot, before.snapshot] : [];
    const sql = `SELECT * FROM changes WHERE ${where} AND pg_visible_in_snapshot(xid, ?::pg_snapshot)
      AND seq > ? ORDER BY seq LIMIT ${PAGE}`;
    for (let last = 0; ; ) {
      const rows = await database.all(sql, [...params, now.snapshot, last]);
      if (this.#closed) return;
      this.#give(rows.flatMap(readChange));
      if (rows.length < PAGE) break;
      last = Number(rows.at(-1)?.['seq']);
    }
    this.#position = now;
  }

  #give(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    for (const listener of this.#listeners) listener(changes);
  }
}

function readPosition(row: Row | undefined): Position {
  return { snapshot: text(row ?? {}, 'snapshot'), server: text(row ?? {}, 'server') };
}

const SESSION_CHANGES: Readonly<Record<string, Extract<Change, { kind: 'session' }>['what']>> = {
  insert: 'created',
  update: 'changed',
  delete: 'deleted',
  expire: 'expired',
};

/** Nothing for what a node of a newer version says. */
function readChange(row: Row): Change[] {
  const id = text(row, 'id');
  const what = text(row, 'what');
  switch (text(row, 'kind')) {
    case 'approval':
      return [{ kind: 'approval', id }];
    case 'key':
      return [{ kind: 'key' }];
    case 'upstream':
      return [{ kind: 'upstream' }];
    case 'mcp':
      return [{ kind: 'mcp' }];
    case 'sign-in':
      return [{ kind: 'sign-in', id }];
    case 'session': {
      const known = SESSION_CHANGES[what];
      return known === undefined
        ? []
        : [{ kind: 'session', what: known, id, principal: text(row, 'principal') }];
    }
    case 'rule':
      return [
        { kind: 'rule', what: what === 'delete' ? 'revoked' : 'added', rule: readRule(json(row, 'body')) },
      ];
    case 'reload': {
      const body: unknown = JSON.parse(optionalText(row, 'body') ?? '{}');
      const by = isObject(body) ? body['by'] : undefined;
      return [{ kind: 'reload', by: typeof by === 'string' ? by : '', origin: id }];
    }
    default:
      return [];
  }
}
