import type { SignIn, SignInStore } from '../sign-ins.js';
import { whole } from '../sql/rows.js';
import { readSignIn } from '../sql/sign-ins.js';
import type { Context } from './context.js';

export class SqliteSignIns implements SignInStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  get most(): number {
    return this.#context.limits.signIns.maxRows;
  }

  async add({ id, name, binding, beganAt, expiresAt }: SignIn): Promise<void> {
    const { database } = this.#context;
    const sql = `INSERT INTO sign_ins (id, name, binding, began_at, expires_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`;
    await database.write(() => database.run(sql, [id, name, binding, whole(beganAt), whole(expiresAt)]));
  }

  get(id: string): Promise<SignIn | undefined> {
    const { database, now } = this.#context;
    const sql = 'SELECT * FROM sign_ins WHERE id = ? AND expires_at > ?';
    return database.read(() => {
      const row = database.get(sql, [id, whole(now())]);
      return row && readSignIn(row);
    });
  }

  list(): Promise<SignIn[]> {
    const { database, now } = this.#context;
    const sql = 'SELECT * FROM sign_ins WHERE expires_at > ? ORDER BY expires_at, rowid';
    return database.read(() => database.all(sql, [whole(now())]).map(readSignIn));
  }

  extend(ends: readonly Pick<SignIn, 'id' | 'expiresAt'>[]): Promise<void> {
    const { database } = this.#context;
    const sql = 'UPDATE sign_ins SET expires_at = ? WHERE id = ? AND expires_at < ?';
    return database.write(() => {
      for (const { id, expiresAt } of ends) database.run(sql, [whole(expiresAt), id, whole(expiresAt)]);
    }, 'relaxed');
  }

  remove(ids: readonly string[]): Promise<void> {
    const { database } = this.#context;
    return database.write(() => {
      for (const id of ids) database.run('DELETE FROM sign_ins WHERE id = ?', [id]);
    });
  }
}
