import type { SignIn, SignInStore } from '../sign-ins.js';
import { whole } from '../sql/rows.js';
import { readSignIn } from '../sql/sign-ins.js';
import type { Context } from './context.js';

export class PostgresSignIns implements SignInStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  get most(): number {
    return this.#context.limits.signIns.maxRows;
  }

  async add({ id, name, binding, beganAt, expiresAt }: SignIn): Promise<void> {
    const sql = `INSERT INTO sign_ins (id, name, binding, began_at, expires_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING`;
    await this.#context.database.run(sql, [id, name, binding, whole(beganAt), whole(expiresAt)]);
  }

  async get(id: string): Promise<SignIn | undefined> {
    const { database, now } = this.#context;
    const row = await database.get('SELECT * FROM sign_ins WHERE id = ? AND expires_at > ?', [
      id,
      whole(now()),
    ]);
    return row && readSignIn(row);
  }

  async list(): Promise<SignIn[]> {
    const { database, now } = this.#context;
    const sql = 'SELECT * FROM sign_ins WHERE expires_at > ? ORDER BY expires_at, number';
    return (await database.all(sql, [whole(now())])).map(readSignIn);
  }

  async extend(ends: readonly Pick<SignIn, 'id' | 'expiresAt'>[]): Promise<void> {
    const sql = `UPDATE sign_ins SET expires_at = ends.expires_at
      FROM unnest(?::text[], ?::bigint[]) AS ends (id, expires_at)
      WHERE sign_ins.id = ends.id AND sign_ins.expires_at < ends.expires_at`;
    const ids = ends.map(({ id }) => id);
    const times = ends.map(({ expiresAt }) => whole(expiresAt));
    await this.#context.database.transaction((queries) => queries.run(sql, [ids, times]), 'relaxed');
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#context.database.run('DELETE FROM sign_ins WHERE id = ANY(?::text[])', [ids]);
    this.#context.notifier.wake();
  }
}
