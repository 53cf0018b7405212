import type { AnswerStore, NewAnswer, RecordedAnswer } from '../answers.js';
import { readAnswer } from '../sql/answers.js';
import { toJson, whole } from '../sql/rows.js';
import type { Context } from './context.js';
import type { Database, Durability } from './database.js';

export class SqliteAnswers implements AnswerStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  get(principal: string, key: string): Promise<RecordedAnswer | undefined> {
    return this.#context.database.read(() => findAnswer(this.#context, principal, key));
  }

  put(answer: NewAnswer): Promise<{ recorded: true } | { recorded: false; existing: RecordedAnswer }> {
    return this.#context.database.write(() => {
      if (insertAnswer(this.#context, answer)) return { recorded: true };
      const existing = findAnswer(this.#context, answer.principal, answer.key);
      if (existing === undefined) throw new Error('An answer was neither written nor there.');
      return { recorded: false, existing };
    });
  }

  extend(principal: string, key: string, expiresAt: number): Promise<boolean> {
    const { database, now } = this.#context;
    const sql = 'UPDATE answers SET expires_at = ? WHERE principal = ? AND key = ? AND expires_at > ?';
    return database.write(() => database.run(sql, [whole(expiresAt), principal, key, whole(now())]) === 1);
  }

  delete(principal: string, key: string, durability: Durability = 'durable'): Promise<boolean> {
    const { database } = this.#context;
    return database.write(() => dropAnswer(database, principal, key), durability);
  }
}

/** Inside a transaction. False when there was none. */
export function dropAnswer(database: Database, principal: string, key: string): boolean {
  return database.run('DELETE FROM answers WHERE principal = ? AND key = ?', [principal, key]) === 1;
}

/** Inside a transaction. False when an answer that has not expired is there. */
export function insertAnswer({ database, now }: Context, answer: NewAnswer): boolean {
  const at = whole(now());
  const body = toJson(answer.body);
  const sql = `INSERT INTO answers (principal, key, digest, session, created_at, expires_at, size, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (principal, key) DO UPDATE SET digest = excluded.digest, session = excluded.session,
      created_at = excluded.created_at, expires_at = excluded.expires_at, size = excluded.size,
      body = excluded.body
    WHERE answers.expires_at <= excluded.created_at`;
  const { principal, key, digest, session, expiresAt } = answer;
  return (
    database.run(sql, [principal, key, digest, session ?? null, at, whole(expiresAt), body.length, body]) ===
    1
  );
}

function findAnswer({ database, now }: Context, principal: string, key: string): RecordedAnswer | undefined {
  const sql = 'SELECT * FROM answers WHERE principal = ? AND key = ? AND expires_at > ?';
  const row = database.get(sql, [principal, key, whole(now())]);
  return row && readAnswer(row);
}
