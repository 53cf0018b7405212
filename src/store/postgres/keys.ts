import type { KeyRotation, KeyStore, NewKey, StoredKey } from '../keys.js';
import { KEY_COLUMNS, keyChanged, keyValues, readKey, rotationValues } from '../sql/keys.js';
import { number, type SqlValue, whole } from '../sql/rows.js';
import { insertAudit } from './audit.js';
import type { Context } from './context.js';
import { countChange } from './rules.js';

export class PostgresKeys implements KeyStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  add(key: NewKey, by: string): Promise<StoredKey | undefined> {
    const sql = `INSERT INTO keys (${KEY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING RETURNING *`;
    return this.#change('key.created', by, sql, (now) => keyValues(key, by, now));
  }

  async list(): Promise<StoredKey[]> {
    return (await this.#context.database.all('SELECT * FROM keys ORDER BY number')).map(readKey);
  }

  rotate(id: string, rotation: KeyRotation, by: string): Promise<StoredKey | undefined> {
    const sql = `UPDATE keys SET previous_digest = CASE WHEN ?::bigint IS NULL THEN NULL ELSE digest END,
      previous_until = ?, digest = ?, start = ?, rotated_at = ?, expires_at = coalesce(?, expires_at)
      WHERE id = ? AND revoked_at IS NULL RETURNING *`;
    return this.#change('key.rotated', by, sql, (now) => [...rotationValues(rotation, now), id]);
  }

  revoke(id: string, by: string): Promise<StoredKey | undefined> {
    const sql = `UPDATE keys SET revoked_at = ?, previous_digest = NULL, previous_until = NULL
      WHERE id = ? AND revoked_at IS NULL RETURNING *`;
    return this.#change('key.revoked', by, sql, (now) => [now, id]);
  }

  async revision(): Promise<number> {
    const row = await this.#context.database.get(`SELECT value FROM counters WHERE name = 'keys'`);
    return number(row ?? {}, 'value');
  }

  /** A change and its line in the audit log are one. */
  async #change(
    event: string,
    by: string,
    sql: string,
    params: (now: number) => SqlValue[],
  ): Promise<StoredKey | undefined> {
    const { database, notifier, now } = this.#context;
    const values = params(whole(now()));
    const changed = await database.transaction(async (queries) => {
      const row = await queries.get(sql, values);
      if (row === undefined) return undefined;
      const key = readKey(row);
      await countChange(queries, 'keys');
      await insertAudit(this.#context, queries, [keyChanged(event, key, by)]);
      return key;
    });
    if (changed !== undefined) notifier.wake();
    return changed;
  }
}
