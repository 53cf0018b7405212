/**
 * Leases by the clock of the database, which is the same for all nodes. `until` is given in the time
 * of the caller: counted from before the question was sent, so it is never too late.
 */
import { type Grant, type Lease, type LeaseStore, SESSION_LEASES } from '../leases.js';
import { number, type Row, text, whole } from '../sql/rows.js';
import type { Context } from './context.js';
import type { Queries } from './database.js';

/** Takes the time of a test as its parameter, and null for the database's own. */
export const LEASE_NOW = '(coalesce(?::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint))';

export class PostgresLeases implements LeaseStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  // Relaxed: a crash of the server that undoes it is before every durable write that the holder made
  // with its token, so those would be undone too, and the next one is refused.
  acquire(name: string, owner: string, ttlMs: number): Promise<Grant> {
    const { database } = this.#context;
    return database.transaction(
      (queries) => takeLease(this.#context, queries, name, owner, ttlMs),
      'relaxed',
    );
  }

  renew(owner: string, ttlMs: number): Promise<Lease[]> {
    const { database, now, leaseNow } = this.#context;
    const asked = now();
    const sql = `UPDATE leases SET until = ${LEASE_NOW} + ?::bigint WHERE owner = ? RETURNING name, owner, token`;
    return database.transaction(async (queries) => {
      const rows = await queries.all(sql, [leaseNow(), whole(ttlMs), owner]);
      return rows.map((row) => readLease(row, whole(asked + ttlMs)));
    }, 'relaxed');
  }

  release(lease: Lease): Promise<boolean> {
    return this.#context.database.transaction((queries) => dropLease(queries, lease), 'relaxed');
  }

  async holders(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { database, leaseNow } = this.#context;
    const sql = `SELECT name, owner FROM leases WHERE name = ANY(?::text[]) AND until > ${LEASE_NOW}`;
    const rows = await database.all(sql, [names, leaseNow()]);
    return new Map(rows.map((row) => [text(row, 'name'), text(row, 'owner')]));
  }

  async heldSessions(): Promise<ReadonlyMap<string, string>> {
    const { database, leaseNow } = this.#context;
    const { prefix, end } = SESSION_LEASES;
    const sql = `SELECT name, owner FROM leases WHERE name > ? AND name < ? AND until > ${LEASE_NOW}`;
    const rows = await database.all(sql, [prefix, end, leaseNow()]);
    return new Map(rows.map((row) => [text(row, 'name').slice(prefix.length), text(row, 'owner')]));
  }

  releaseAll(owner: string): Promise<number> {
    return this.#context.database.run('DELETE FROM leases WHERE owner = ?', [owner]);
  }
}

/** Inside a transaction. */
export async function takeLease(
  { now, leaseNow }: Context,
  queries: Queries,
  name: string,
  owner: string,
  ttlMs: number,
): Promise<Grant> {
  const asked = now();
  const take = `INSERT INTO leases (name, owner, token, until)
    VALUES (?, ?, nextval('lease_tokens'), ${LEASE_NOW} + ?::bigint)
    ON CONFLICT (name) DO UPDATE
      SET owner = excluded.owner, token = nextval('lease_tokens'), until = excluded.until
      WHERE leases.until <= ${LEASE_NOW} RETURNING name, owner, token`;
  const look = `SELECT owner, until - ${LEASE_NOW} AS left FROM leases WHERE name = ?`;
  const at = leaseNow();
  for (;;) {
    const taken = await queries.get(take, [name, owner, at, whole(ttlMs), at]);
    if (taken !== undefined) return { granted: true, lease: readLease(taken, whole(asked + ttlMs)) };
    const held = await queries.get(look, [at, name]);
    // Released in between: it is free now.
    if (held === undefined) continue;
    return { granted: false, owner: text(held, 'owner'), until: whole(asked) + number(held, 'left') };
  }
}

/** Inside a transaction. False when it was no longer held. */
export async function dropLease(queries: Queries, { name, token, owner }: Lease): Promise<boolean> {
  const sql = 'DELETE FROM leases WHERE name = ? AND token = ? AND owner = ?';
  return (await queries.run(sql, [name, token, owner])) === 1;
}

function readLease(row: Row, until: number): Lease {
  return { name: text(row, 'name'), owner: text(row, 'owner'), token: number(row, 'token'), until };
}
