import type { NewRun, Run, RunClaim, RunStore } from '../runs.js';
import { text, toJson, whole } from '../sql/rows.js';
import { RUN_HEAD, readRun, readRunHead } from '../sql/runs.js';
import type { Context } from './context.js';

export class SqliteRuns implements RunStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  create({ id, principal, owner, request }: NewRun): Promise<boolean> {
    const { database, now } = this.#context;
    const sql = `INSERT INTO runs (id, principal, state, attempts, owner, started_at, request)
      VALUES (?, ?, 'running', 1, ?, ?, ?) ON CONFLICT DO NOTHING`;
    const params = [id, principal, owner, whole(now()), toJson(request)];
    return database.write(() => database.run(sql, params) === 1);
  }

  get(id: string): Promise<Run | undefined> {
    return this.#one('SELECT * FROM runs WHERE id = ?', id);
  }

  attach(id: string, session: string): Promise<boolean> {
    const { database } = this.#context;
    const sql = 'UPDATE runs SET session = ? WHERE id = ? AND EXISTS (SELECT 1 FROM sessions WHERE id = ?)';
    return database.write(() => database.run(sql, [session, id, session]) === 1);
  }

  ofSession(session: string): Promise<Run | undefined> {
    const sql = 'SELECT * FROM runs WHERE session = ? ORDER BY started_at DESC, rowid DESC LIMIT 1';
    return this.#one(sql, session);
  }

  ofSessions(sessions: readonly string[]): Promise<ReadonlyMap<string, Omit<Run, 'request'>>> {
    const { database } = this.#context;
    const sql = `SELECT ${RUN_HEAD} FROM runs
      WHERE session IN (SELECT value FROM json_each(?)) ORDER BY started_at, rowid`;
    return database.read(() => {
      const rows = database.all(sql, [JSON.stringify(sessions)]);
      // The last of a session takes the place of those before it.
      return new Map(rows.map((row) => [text(row, 'session'), readRunHead(row)]));
    });
  }

  running(): Promise<Omit<Run, 'request'>[]> {
    const { database } = this.#context;
    const sql = `SELECT ${RUN_HEAD} FROM runs WHERE state = 'running' ORDER BY started_at, rowid`;
    return database.read(() => database.all(sql).map(readRunHead));
  }

  claim(id: string, { from, to, attempts }: RunClaim): Promise<Run | undefined> {
    const { database } = this.#context;
    const sql = `UPDATE runs SET owner = ?, attempts = ?, state = 'running'
      WHERE id = ? AND owner = ? RETURNING *`;
    return database.write(() => {
      const row = database.get(sql, [to, attempts, id, from]);
      return row && readRun(row);
    });
  }

  interrupt(id: string, owner: string): Promise<boolean> {
    const { database } = this.#context;
    const sql = `UPDATE runs SET state = 'interrupted' WHERE id = ? AND owner = ?`;
    return database.write(() => database.run(sql, [id, owner]) === 1);
  }

  release(owner: string, to: string): Promise<number> {
    const { database } = this.#context;
    return database.write(() => database.run('UPDATE runs SET owner = ? WHERE owner = ?', [to, owner]));
  }

  delete(id: string): Promise<boolean> {
    const { database } = this.#context;
    return database.write(() => database.run('DELETE FROM runs WHERE id = ?', [id]) === 1);
  }

  deleteOthers(session: string, keep: string): Promise<number> {
    const { database } = this.#context;
    const sql = 'DELETE FROM runs WHERE session = ? AND id <> ?';
    return database.write(() => database.run(sql, [session, keep]));
  }

  #one(sql: string, param: string): Promise<Run | undefined> {
    const { database } = this.#context;
    return database.read(() => {
      const row = database.get(sql, [param]);
      return row && readRun(row);
    });
  }
}
