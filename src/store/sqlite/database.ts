/**
 * One connection that hides the binding's sharp edges. Measured on libsql 0.5.29:
 * - A boolean parameter, or a lone Buffer outside an array, aborts the whole process; too few or
 *   too many parameters silently keep old bindings. Hence arrays of `SqlValue`, counted.
 * - A text parameter with a NUL is cut short when read back. Such a NUL becomes U+FFFD; JSON is not
 *   affected, because JSON text has no raw NUL.
 * - Numbers are bound as REAL: columns with INTEGER affinity convert them, expressions need a CAST.
 * - `get` on a statement that `all` was called on keeps the bindings of that call. Hence a statement
 *   of its own for each way of running the same SQL.
 * - A connection with prepared statements stays open after `close()` until they are collected.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type LibsqlDatabase from 'libsql';
import { GatewayError } from '../../core/errors.js';
import { isRow, number, type Row, type SqlValue } from '../sql/rows.js';
import { isBusy, storeError } from './errors.js';

export type Params = readonly SqlValue[];

/**
 * `durable`: on disk when the promise resolves, so that what was acted on is still there after a
 * power cut. `relaxed`: survives the death of the process, and a power cut takes at most the end of
 * what was written. An fsync costs 0.2 ms here and several on slow disks: a turn has a handful of
 * durable writes, so they are affordable, while rows that nothing acts on are not worth it.
 */
export type Durability = 'durable' | 'relaxed';

interface Prepared {
  statement: LibsqlDatabase.Statement;
  parameters: number;
}

/**
 * A change is logged in whole pages, and a turn changes some dozens of them by a few bytes each: with
 * SQLite's usual 4096 it logs 145 KB. Smaller pages make it slower to read what is long (a scan takes
 * 1.6 times as long), which is rare. A file that exists keeps its own.
 */
const PAGE_BYTES = 1024;
/** The log is written into the file when it has grown to this, as with SQLite's usual pages. */
const LOG_BYTES = 4 * 1024 * 1024;

const BUSY_TIMEOUT_MS = 20;
const RETRY_MS = { first: 2, most: 50 };

interface DatabaseOptions {
  path: string;
  memory: boolean;
  lockWaitMs: number;
}

export class Database {
  readonly #connection: LibsqlDatabase.Database;
  readonly #memory: boolean;
  readonly #lockWaitMs: number;
  readonly #statements = new Map<string, Prepared>();
  #open = true;

  private constructor(connection: LibsqlDatabase.Database, options: DatabaseOptions) {
    this.#connection = connection;
    this.#memory = options.memory;
    this.#lockWaitMs = options.lockWaitMs;
  }

  /** Rejects with what SQLite says; the caller knows which file it is about. */
  static async open(options: DatabaseOptions): Promise<Database> {
    // Loaded here: the native library takes 20 ms, which commands without a store need not pay.
    const { default: Libsql } = await import('libsql');
    // The library blocks while it waits for a lock, so it waits briefly and we wait in between.
    const connection = new Libsql(options.path, { timeout: BUSY_TIMEOUT_MS });
    const database = new Database(connection, options);
    await database.#retry(() => {
      // These take effect only before the first table; the second lets prune give space back to the
      // disk. Not synced, for the next line writes the same page again and is.
      connection.exec('PRAGMA synchronous = OFF');
      connection.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
      connection.exec('PRAGMA auto_vacuum = INCREMENTAL');
      connection.exec('PRAGMA synchronous = FULL');
      if (!options.memory) connection.exec('PRAGMA journal_mode = WAL');
    });
    connection.exec('PRAGMA foreign_keys = ON');
    connection.exec('PRAGMA temp_store = MEMORY');
    connection.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
    const pageBytes = number(database.get('PRAGMA page_size') ?? {}, 'page_size');
    connection.exec(`PRAGMA wal_autocheckpoint = ${Math.round(LOG_BYTES / pageBytes)}`);
    return database;
  }

  get(sql: string, params: Params = []): Row | undefined {
    const row = this.#prepare('get', sql, params).get(bindable(params));
    return isRow(row) ? row : undefined;
  }

  all(sql: string, params: Params = []): Row[] {
    return this.#prepare('all', sql, params).all(bindable(params)).filter(isRow);
  }

  /** Rows changed. */
  run(sql: string, params: Params = []): number {
    return this.#prepare('run', sql, params).run(bindable(params)).changes;
  }

  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  /** `work` may run again when another process held the lock, so it changes nothing but the database. */
  async read<T>(work: () => T): Promise<T> {
    this.#assertOpen();
    try {
      return await this.#retry(work);
    } catch (error) {
      throw storeError(error);
    }
  }

  /** One transaction; what `work` throws rolls it back. */
  async write<T>(work: () => T, durability: Durability = 'durable'): Promise<T> {
    this.#assertOpen();
    try {
      return await this.#retry(() => this.#transact(work, durability));
    } catch (error) {
      throw storeError(error);
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    try {
      if (!this.#memory) this.#connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // Another process reads it: the log stays, and is part of the database.
    }
    this.#statements.clear();
    this.#connection.close();
  }

  #transact<T>(work: () => T, durability: Durability): T {
    const relaxed = durability === 'relaxed' && !this.#memory;
    if (relaxed) this.#connection.exec('PRAGMA synchronous = NORMAL');
    try {
      this.#connection.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.#connection.exec('COMMIT');
        return result;
      } catch (error) {
        // Some failures (a full disk) have rolled back already.
        if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK');
        throw error;
      }
    } finally {
      if (relaxed) this.#connection.exec('PRAGMA synchronous = FULL');
    }
  }

  async #retry<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + this.#lockWaitMs;
    for (let pause = RETRY_MS.first; ; pause = Math.min(pause * 2, RETRY_MS.most)) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error;
      }
      await delay(pause);
      this.#assertOpen();
    }
  }

  #prepare(way: 'get' | 'all' | 'run', sql: string, params: Params): LibsqlDatabase.Statement {
    const key = `${way} ${sql}`;
    let prepared = this.#statements.get(key);
    if (prepared === undefined) {
      prepared = { statement: this.#connection.prepare(sql), parameters: sql.split('?').length - 1 };
      this.#statements.set(key, prepared);
    }
    if (prepared.parameters !== params.length) {
      throw new TypeError(`${prepared.parameters} parameters expected, ${params.length} given: ${sql}`);
    }
    return prepared.statement;
  }

  #assertOpen(): void {
    if (!this.#open) {
      throw new GatewayError(
        'unavailable',
        'The store is closed: the gateway is stopping. Try again later.',
        {
          retryable: true,
          detail: 'store_unavailable',
        },
      );
    }
  }
}

function bindable(params: Params): SqlValue[] {
  return params.map((value) =>
    typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value,
  );
}
