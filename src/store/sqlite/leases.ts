import { type Grant, type Lease, type LeaseStore, SESSION_LEASES } from '../leases.js';
import { number, type Row, text, whole } from '../sql/rows.js';
import type { Context } from './context.js';
import type { Database } from './database.js';

export class SqliteLeases implements LeaseStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  // Relaxed: a power cut that undoes it has ended its holder too, and every durable write that the
  // holder made with its token took this one, which is before it in the same log, to the disk.
  acquire(name: string, owner: string, ttlMs: number): Promise<Grant> {
    return this.#context.database.write(() => takeLease(this.#context, name, owner, ttlMs), 'relaxed');
  }

  // Relaxed: a renewal that a power cut undoes was this machine's own, and the lease lapses sooner.
  renew(owner: string, ttlMs: number): Promise<Lease[]> {
    const { database, now } = this.#context;
    const sql = 'UPDATE leases SET until = ? WHERE owner = ? RETURNING name, owner, token, until';
    return database.write(() => database.all(sql, [whole(now() + ttlMs), owner]).map(readLease), 'relaxed');
  }

  release(lease: Lease): Promise<boolean> {
    const { database } = this.#context;
    return database.write(() => dropLease(database, lease), 'relaxed');
  }

  holders(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { database, now } = this.#context;
    const sql = `SELECT name, owner FROM leases
      WHERE name IN (SELECT value FROM json_each(?)) AND until > ?`;
    return database.read(() => {
      const rows = database.all(sql, [JSON.stringify(names), now()]);
      return new Map(rows.map((row) => [text(row, 'name'), text(row, 'owner')]));
    });
  }

  heldSessions(): Promise<ReadonlyMap<string, string>> {
    const { database, now } = this.#context;
    const sql = 'SELECT name, owner FROM leases WHERE name > ? AND name < ? AND until > ?';
    const { prefix, end } = SESSION_LEASES;
    return database.read(() => {
      const rows = database.all(sql, [prefix, end, now()]);
      return new Map(rows.map((row) => [text(row, 'name').slice(prefix.length), text(row, 'owner')]));
    });
  }

  releaseAll(owner: string): Promise<number> {
    const { database } = this.#context;
    return database.write(() => database.run('DELETE FROM leases WHERE owner = ?', [owner]));
  }
}

/** Inside a transaction. */
export function takeLease({ database, now }: Context, name: string, owner: string, ttlMs: number): Grant {
  const held = database.get('SELECT owner, until FROM leases WHERE name = ?', [name]);
  if (held !== undefined && number(held, 'until') > now()) {
    return { granted: false, owner: text(held, 'owner'), until: number(held, 'until') };
  }
  const token = nextCount(database, 'lease');
  const until = whole(now() + ttlMs);
  const sql = 'INSERT OR REPLACE INTO leases (name, owner, token, until) VALUES (?, ?, ?, ?)';
  database.run(sql, [name, owner, token, until]);
  return { granted: true, lease: { name, owner, token, until } };
}

/** Inside a transaction. False when it was no longer held. */
export function dropLease(database: Database, { name, token, owner }: Lease): boolean {
  const sql = 'DELETE FROM leases WHERE name = ? AND token = ? AND owner = ?';
  return database.run(sql, [name, token, owner]) === 1;
}

/** Inside a transaction. */
export function nextCount(database: Database, counter: 'lease' | 'rules' | 'keys'): number {
  const sql = 'UPDATE counters SET value = value + 1 WHERE name = ? RETURNING value';
  return number(database.get(sql, [counter]) ?? {}, 'value');
}

function readLease(row: Row): Lease {
  return {
    name: text(row, 'name'),
    owner: text(row, 'owner'),
    token: number(row, 'token'),
    until: number(row, 'until'),
  };
}
