import type { NewRun, Run, RunClaim, RunStore } from '../runs.js';
import { text, toJson, whole } from '../sql/rows.js';
import { RUN_HEAD, readRun, readRunHead } from '../sql/runs.js';
import type { Context } from './context.js';

export class PostgresRuns implements RunStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async create({ id, principal, owner, request }: NewRun): Promise<boolean> {
    const { database, now } = this.#context;
    const sql = `INSERT INTO runs (id, principal, state, attempts, owner, started_at, request)
      VALUES (?, ?, 'running', 1, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
    return (await database.run(sql, [id, principal, owner, whole(now()), toJson(request)])) === 1;
  }

  get(id: string): Promise<Run | undefined> {
    return this.#one('SELECT * FROM runs WHERE id = ?', id);
  }

  async attach(id: string, session: string): Promise<boolean> {
    const sql = 'UPDATE runs SET session = sessions.id FROM sessions WHERE runs.id = ? AND sessions.id = ?';
    return (await this.#context.database.run(sql, [id, session])) === 1;
  }

  ofSession(session: string): Promise<Run | undefined> {
    const sql = 'SELECT * FROM runs WHERE session = ? ORDER BY started_at DESC, number DESC LIMIT 1';
    return this.#one(sql, session);
  }

  async ofSessions(sessions: readonly string[]): Promise<ReadonlyMap<string, Omit<Run, 'request'>>> {
    const sql = `SELECT ${RUN_HEAD} FROM runs WHERE session = ANY(?::text[]) ORDER BY started_at, number`;
    const rows = await this.#context.database.all(sql, [sessions]);
    // The last of a session takes the place of those before it.
    return new Map(rows.map((row) => [text(row, 'session'), readRunHead(row)]));
  }

  async running(): Promise<Omit<Run, 'request'>[]> {
    const sql = `SELECT ${RUN_HEAD} FROM runs WHERE state = 'running' ORDER BY started_at, number`;
    return (await this.#context.database.all(sql)).map(readRunHead);
  }

  async claim(id: string, { from, to, attempts }: RunClaim): Promise<Run | undefined> {
    const sql = `UPDATE runs SET owner = ?, attempts = ?, state = 'running'
      WHERE id = ? AND owner = ? RETURNING *`;
    const row = await this.#context.database.get(sql, [to, attempts, id, from]);
    return row && readRun(row);
  }

  async interrupt(id: string, owner: string): Promise<boolean> {
    const sql = `UPDATE runs SET state = 'interrupted' WHERE id = ? AND owner = ?`;
    return (await this.#context.database.run(sql, [id, owner])) === 1;
  }

  release(owner: string, to: string): Promise<number> {
    return this.#context.database.run('UPDATE runs SET owner = ? WHERE owner = ?', [to, owner]);
  }

  async delete(id: string): Promise<boolean> {
    return (await this.#context.database.run('DELETE FROM runs WHERE id = ?', [id])) === 1;
  }

  deleteOthers(session: string, keep: string): Promise<number> {
    return this.#context.database.run('DELETE FROM runs WHERE session = ? AND id <> ?', [session, keep]);
  }

  async #one(sql: string, param: string): Promise<Run | undefined> {
    const row = await this.#context.database.get(sql, [param]);
    return row && readRun(row);
  }
}
