import type { AnswerStore, NewAnswer, RecordedAnswer } from '../answers.js';
import { readAnswer } from '../sql/answers.js';
import { toJson, whole } from '../sql/rows.js';
import type { Context } from './context.js';
import type { Durability, Queries } from './database.js';

export class PostgresAnswers implements AnswerStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  get(principal: string, key: string): Promise<RecordedAnswer | undefined> {
    return findAnswer(this.#context, this.#context.database, principal, key);
  }

  async put(answer: NewAnswer): Promise<{ recorded: true } | { recorded: false; existing: RecordedAnswer }> {
    const { database } = this.#context;
    for (;;) {
      if (await insertAnswer(this.#context, database, answer)) return { recorded: true };
      const existing = await findAnswer(this.#context, database, answer.principal, answer.key);
      // Deleted in between: there is room for this one.
      if (existing !== undefined) return { recorded: false, existing };
    }
  }

  async extend(principal: string, key: string, expiresAt: number): Promise<boolean> {
    const { database, now } = this.#context;
    const sql = 'UPDATE answers SET expires_at = ? WHERE principal = ? AND key = ? AND expires_at > ?';
    return (await database.run(sql, [whole(expiresAt), principal, key, whole(now())])) === 1;
  }

  async delete(principal: string, key: string, durability: Durability = 'durable'): Promise<boolean> {
    const { database } = this.#context;
    return database.transaction((queries) => dropAnswer(queries, principal, key), durability);
  }
}

/** False when there was none. */
export async function dropAnswer(queries: Queries, principal: string, key: string): Promise<boolean> {
  return (await queries.run('DELETE FROM answers WHERE principal = ? AND key = ?', [principal, key])) === 1;
}

/** False when an answer that has not expired is there. */
export async function insertAnswer({ now }: Context, queries: Queries, answer: NewAnswer): Promise<boolean> {
  const at = whole(now());
  const body = toJson(answer.body);
  const sql = `INSERT INTO answers (principal, key, digest, session, created_at, expires_at, size, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (principal, key) DO UPDATE SET digest = excluded.digest, session = excluded.session,
      created_at = excluded.created_at, expires_at = excluded.expires_at, size = excluded.size,
      body = excluded.body
    WHERE answers.expires_at <= excluded.created_at`;
  const { principal, key, digest, session, expiresAt } = answer;
  const values = [principal, key, digest, session ?? null, at, whole(expiresAt), body.length, body];
  return (await queries.run(sql, values)) === 1;
}

async function findAnswer(
  { now }: Context,
  queries: Queries,
  principal: string,
  key: string,
): Promise<RecordedAnswer | undefined> {
  const sql = 'SELECT * FROM answers WHERE principal = ? AND key = ? AND expires_at > ?';
  const row = await queries.get(sql, [principal, key, whole(now())]);
  return row && readAnswer(row);
}
