/**
 * The pool of connections. A statement outside of a transaction is one round trip (behind a pooler it is a transaction). Inside, statements
 * that do not wait for each other are sent together (`pipeline` of `pg`).
 *
 * A transaction whose connection breaks before COMMIT was sent runs again, because the server has rolled it
 * back. If the connection breaks during COMMIT, the outcome is unknown: nothing runs again, and the caller gets
 * the error.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, ClientBase, ClientConfig, CustomTypesConfig, Pool, PoolClient, QueryConfig } from 'pg';
import { GatewayError } from '../../core/errors.js';
import { isRow, type Row, type SqlValue } from '../sql/rows.js';
import { isContended, isLost, postgresCode, storeError } from './errors.js';
import { describeLocation, type PostgresLocation } from './location.js';

export type Value = SqlValue | boolean | readonly (string | number | null)[];
export type Params = readonly Value[];

/**
 * `durable`: on the server's disk when the promise resolves. `relaxed`: survives the death of this
 * process; a crash of the server takes at most the last fraction of a second, and never a row without
 * those that were written before it. `unhurried`: durable, and without limits of time for its statements
 * and locks: a migration takes as long as the tables are large, and other nodes wait for it.
 */
export type Durability = 'durable' | 'relaxed' | 'unhurried';

export interface Queries {
  all(sql: string, params?: Params): Promise<Row[]>;
  get(sql: string, params?: Params): Promise<Row | undefined>;
  /** Rows changed. */
  run(sql: string, params?: Params): Promise<number>;
}

export interface DatabaseLimits {
  connections: number;
  connectMs: number;
  statementMs: number;
  lockMs: number;
  /** A transaction of a node that hangs is ended by the server, with its locks. */
  idleInTransactionMs: number;
}

/** After the server's own limit, the way to it is what hangs. */
const READ_GRACE_MS = 5000;
/** What a timer can wait: 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const IDLE_MS = 30_000;
/** Of a connection that mostly waits. */
const KEEP_ALIVE_MS = 10_000;
const BACK_OFF_MS = { first: 100, most: 5000 };
const TRIES = 4;
const CONTENDED_PAUSE_MS = 5;

/** Of `pg`: 20 is int8, 1700 numeric (sums of int8). Counts and times stay far below 2^53. */
const NUMERIC_TYPES: readonly number[] = [20, 1700];

export class Database implements Queries {
  /** For people who start the gateway. */
  readonly subject: string;
  readonly #pool: Pool;
  #open = true;
  #serves = false;
  #down: { error: unknown; until: number; pauseMs: number } | undefined;
  #refusal: GatewayError | undefined;

  /** A connection beside the pool, which is not connected yet; who asks for it ends it. */
  readonly createClient: () => Client;

  readonly #pooled: PooledClients;

  private constructor(pool: Pool, pooled: PooledClients, createClient: () => Client, subject: string) {
    this.#pool = pool;
    this.#pooled = pooled;
    this.createClient = createClient;
    this.subject = subject;
  }

  /** Connects to nothing yet. */
  static async create(location: PostgresLocation, limits: DatabaseLimits): Promise<Database> {
    // Loaded here: a gateway on SQLite need not read it.
    const { default: pg } = await import('pg');
    const types: CustomTypesConfig = {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        NUMERIC_TYPES.includes(oid) ? Number : pg.types.getTypeParser(oid, format),
    };
    const { host, port, database, user, password, tls } = location;
    const connection: ClientConfig = {
      host,
      port,
      database,
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
      ssl: tls,
      types,
      application_name: 'toolgate',
      keepAlive: true,
      connectionTimeoutMillis: limits.connectMs,
    };
    const pooled: PooledClients = { clients: new WeakSet(), settings: settings(limits, 'SET LOCAL') };
    const pool = new pg.Pool({
      ...connection,
      pipeline: true,
      max: limits.connections,
      idleTimeoutMillis: IDLE_MS,
      query_timeout: limits.statementMs + READ_GRACE_MS,
      // As statements, not as parameters of the start: poolers in between refuse those.
      onConnect: async (client) => {
        if (await isPooled(client)) pooled.clients.add(client);
        else await client.query(settings(limits, 'SET'));
      },
    });
    // An idle connection failed: the next user gets another one.
    pool.on('error', () => {});
    const createClient = () =>
      new pg.Client({
        ...connection,
        application_name: 'toolgate listener',
        keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
        query_timeout: READ_GRACE_MS,
      });
    return new Database(pool, pooled, createClient, `The PostgreSQL database ${describeLocation(location)}`);
  }

  async all(sql: string, params: Params = []): Promise<Row[]> {
    return this.#one((queries) => queries.all(sql, params));
  }

  async get(sql: string, params: Params = []): Promise<Row | undefined> {
    return (await this.all(sql, params))[0];
  }

  async run(sql: string, params: Params = []): Promise<number> {
    return this.#one((queries) => queries.run(sql, params));
  }

  /** One transaction; what `work` throws rolls it back. `work` may run again, so it changes nothing else. */
  async transaction<T>(
    work: (queries: Queries) => Promise<T>,
    durability: Durability = 'durable',
  ): Promise<T> {
    this.#assertNotRefused();
    return this.always(work, durability);
  }

  /** A transaction also while everything else is refused. */
  async always<T>(work: (queries: Queries) => Promise<T>, durability: Durability = 'durable'): Promise<T> {
    for (let tried = 1; ; tried++) {
      const state = { ending: false };
      try {
        return await this.#use((client) => transact(client, work, this.#begin(client, durability), state));
      } catch (error) {
        const again =
          isContended(causeOf(error)) || (isLost(causeOf(error)) && !state.ending && !this.#isDown());
        if (!again || tried === TRIES) throw error;
      }
      await delay(CONTENDED_PAUSE_MS * tried);
    }
  }

  /** Until it is called without a reason, as if the database were away. */
  refuse(reason: GatewayError | undefined): void {
    this.#refusal = reason;
  }

  /** From here on errors are for clients and do not name the host; the cause is for the log. */
  serve(): void {
    this.#serves = true;
  }

  /** Connects without waiting out a pause: for the start, which waits itself. */
  forgetFailures(): void {
    this.#down = undefined;
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#pool.end();
  }

  async #one<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    this.#assertNotRefused();
    return this.#use((client) =>
      this.#pooled.clients.has(client)
        ? transact(client, work, this.#begin(client, 'durable'), { ending: false })
        : work(queriesOf(client)),
    );
  }

  #begin(client: PoolClient, durability: Durability): Begin {
    const local = this.#pooled.clients.has(client) ? [this.#pooled.settings] : [];
    return {
      sql: ['BEGIN', ...local, ...BEGIN_LOCAL[durability]].join('; '),
      ...(durability === 'unhurried' && { timeoutMs: LONGEST_TIMER_MS }),
    };
  }

  async #use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#checkOut();
    let broken: Error | undefined;
    const onError = (error: Error) => {
      broken = error;
    };
    client.on('error', onError);
    try {
      return await work(client);
    } catch (error) {
      if (isLost(error)) broken ??= error instanceof Error ? error : new Error('lost');
      throw storeError(error, this.#shown);
    } finally {
      client.off('error', onError);
      client.release(broken ?? false);
    }
  }

  async #checkOut(): Promise<PoolClient> {
    this.#assertOpen();
    if (this.#down !== undefined && this.#isDown()) throw this.#down.error;
    try {
      const client = await this.#pool.connect();
      this.#down = undefined;
      return client;
    } catch (error) {
      const failure = storeError(error, this.#shown);
      // Waiting for a free connection in vain says nothing about the server.
      if (postgresCode(error) !== '53000') this.#backOff(failure);
      throw failure;
    }
  }

  /** Longer after each failure in a row: a server that starts again is not met by all at once. */
  #backOff(error: unknown): void {
    const before = this.#down?.pauseMs ?? BACK_OFF_MS.first / 2;
    const pauseMs = Math.min(before * 2, BACK_OFF_MS.most);
    this.#down = { error, pauseMs, until: performance.now() + pauseMs };
  }

  get #shown(): string {
    return this.#serves ? 'The store of the gateway' : this.subject;
  }

  #isDown(): boolean {
    return this.#down !== undefined && performance.now() < this.#down.until;
  }

  #assertNotRefused(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  #assertOpen(): void {
    if (this.#open) return;
    throw new GatewayError('unavailable', 'The store is closed: the gateway is stopping. Try again later.', {
      retryable: true,
      detail: 'store_unavailable',
    });
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof GatewayError ? error.cause : error;
}

/** Connections of a pooler, which gives each transaction another one of the server. */
interface PooledClients {
  clients: WeakSet<object>;
  /** For each transaction: a `SET` would stay on a connection that others are given. */
  settings: string;
}

/** The number of the process that the server names is the connection's own; a pooler names another. */
async function isPooled(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<Row>('SELECT pg_backend_pid() AS pid');
  return !('processID' in client) || rows[0]?.['pid'] !== client.processID;
}

function settings(
  { statementMs, lockMs, idleInTransactionMs }: DatabaseLimits,
  set: 'SET' | 'SET LOCAL',
): string {
  return `${set} statement_timeout = ${statementMs}; ${set} lock_timeout = ${lockMs};
    ${set} idle_in_transaction_session_timeout = ${idleInTransactionMs}`;
}

interface Begin {
  sql: string;
  /** Of each statement, on this side. */
  timeoutMs?: number;
}

const BEGIN_LOCAL: Readonly<Record<Durability, readonly string[]>> = {
  durable: [],
  relaxed: ['SET LOCAL synchronous_commit = off'],
  unhurried: ['SET LOCAL statement_timeout = 0', 'SET LOCAL lock_timeout = 0'],
};

async function transact<T>(
  client: PoolClient,
  work: (queries: Queries) => Promise<T>,
  { sql, timeoutMs }: Begin,
  state: { ending: boolean },
): Promise<T> {
  const begun = client.query(sql);
  // Sent together with the first statement; where it fails, so does that.
  begun.catch(() => {});
  try {
    const result = await work(queriesOf(client, timeoutMs));
    await begun;
    state.ending = true;
    await client.query('COMMIT');
    return result;
  } catch (error) {
    if (!state.ending && !isLost(error)) await client.query('ROLLBACK');
    throw error;
  }
}

function queriesOf(client: PoolClient, timeoutMs?: number): Queries {
  return {
    all: (sql, params = []) => rowsOf(client, sql, params, timeoutMs),
    get: async (sql, params = []) => (await rowsOf(client, sql, params, timeoutMs))[0],
    run: (sql, params = []) => changesOf(client, sql, params, timeoutMs),
  };
}

async function rowsOf(client: PoolClient, sql: string, params: Params, timeoutMs?: number): Promise<Row[]> {
  const { rows } = await client.query<Row>(queryOf(sql, params, timeoutMs));
  return rows.filter(isRow);
}

async function changesOf(
  client: PoolClient,
  sql: string,
  params: Params,
  timeoutMs?: number,
): Promise<number> {
  const { rowCount } = await client.query(queryOf(sql, params, timeoutMs));
  return rowCount ?? 0;
}

/** `pg` reads it beside what its types name. */
interface TimedQuery extends QueryConfig {
  query_timeout?: number;
}

/** Without a time of its own, that of the pool. */
function queryOf(sql: string, params: Params, timeoutMs: number | undefined): TimedQuery {
  const query = { text: numbered(sql), values: bindable(params) };
  return timeoutMs === undefined ? query : { ...query, query_timeout: timeoutMs };
}

/** Statements that were numbered; those of many rows, which are many, are not kept. */
const KNOWN = new Map<string, string>();
const KNOWN_MOST = { statements: 500, chars: 2000 };

/** `?` as in SQLite, so that both share conditions. No operator of ours has one. */
function numbered(sql: string): string {
  const known = KNOWN.get(sql);
  if (known !== undefined) return known;
  let count = 0;
  const made = sql.replaceAll('?', () => `$${++count}`);
  if (sql.length <= KNOWN_MOST.chars && KNOWN.size < KNOWN_MOST.statements) KNOWN.set(sql, made);
  return made;
}

/** Text in PostgreSQL has no NUL; JSON is not affected, because JSON text has no raw one. */
function bindable(params: Params): unknown[] {
  const clean = (value: unknown) =>
    typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
  return params.map((value) => (Array.isArray(value) ? value.map(clean) : clean(value)));
}

/** The server takes 65,535 parameters in one statement. */
const MOST_PARAMETERS = 30_000;

/** Inserts rows in as few statements as they fit into. `behind` follows the values. Resolves with what they return. */
export async function insertRows(
  queries: Queries,
  into: string,
  rows: readonly (readonly Value[])[],
  behind = '',
): Promise<Row[]> {
  const width = rows[0]?.length ?? 1;
  const most = Math.floor(MOST_PARAMETERS / width);
  const marks = `(${Array(width).fill('?').join(', ')})`;
  const returned: Row[] = [];
  for (let from = 0; from < rows.length; from += most) {
    const part = rows.slice(from, from + most);
    const sql = `INSERT INTO ${into} VALUES ${part.map(() => marks).join(', ')} ${behind}`;
    returned.push(...(await queries.all(sql, part.flat())));
  }
  return returned;
}
