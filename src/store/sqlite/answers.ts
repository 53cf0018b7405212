import type { AnswerStore, NewAnswer, RecordedAnswer } from '../answers.js';
import type { Context } from './context.js';
import type { Database, Durability } from './database.js';
import { json, number, optionalText, type Row, text, toJson, whole } from './rows.js';

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

function readAnswer(row: Row): RecordedAnswer {
  const session = optionalText(row, 'session');
  return {
    principal: text(row, 'principal'),
    key: text(row, 'key'),
    digest: text(row, 'digest'),
    ...(session !== undefined && { session }),
    body: json<unknown>(row, 'body'),
    createdAt: number(row, 'created_at'),
    expiresAt: number(row, 'expires_at'),
  };
}
