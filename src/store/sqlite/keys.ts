import type { KeyRotation, KeyStore, NewKey, StoredKey } from '../keys.js';
import { KEY_COLUMNS, keyChanged, keyValues, readKey, rotationValues } from '../sql/keys.js';
import { number, type SqlValue, whole } from '../sql/rows.js';
import { insertAudit } from './audit.js';
import type { Context } from './context.js';
import { nextCount } from './leases.js';

export class SqliteKeys implements KeyStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  add(key: NewKey, by: string): Promise<StoredKey | undefined> {
    const sql = `INSERT INTO keys (${KEY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING RETURNING *`;
    return this.#change('key.created', by, sql, (now) => keyValues(key, by, now));
  }

  list(): Promise<StoredKey[]> {
    const { database } = this.#context;
    return database.read(() => database.all('SELECT * FROM keys ORDER BY number').map(readKey));
  }

  rotate(id: string, rotation: KeyRotation, by: string): Promise<StoredKey | undefined> {
    const sql = `UPDATE keys SET previous_digest = iif(? IS NULL, NULL, digest), previous_until = ?,
      digest = ?, start = ?, rotated_at = ?, expires_at = coalesce(?, expires_at)
      WHERE id = ? AND revoked_at IS NULL RETURNING *`;
    return this.#change('key.rotated', by, sql, (now) => [...rotationValues(rotation, now), id]);
  }

  revoke(id: string, by: string): Promise<StoredKey | undefined> {
    const sql = `UPDATE keys SET revoked_at = ?, previous_digest = NULL, previous_until = NULL
      WHERE id = ? AND revoked_at IS NULL RETURNING *`;
    return this.#change('key.revoked', by, sql, (now) => [now, id]);
  }

  revision(): Promise<number> {
    const { database } = this.#context;
    const sql = `SELECT value FROM counters WHERE name = 'keys'`;
    return database.read(() => number(database.get(sql) ?? {}, 'value'));
  }

  /** A change and its line in the audit log are one. */
  #change(
    event: string,
    by: string,
    sql: string,
    params: (now: number) => SqlValue[],
  ): Promise<StoredKey | undefined> {
    const { database } = this.#context;
    return database.write(() => {
      const row = database.get(sql, params(whole(this.#context.now())));
      if (row === undefined) return undefined;
      const key = readKey(row);
      nextCount(database, 'keys');
      insertAudit(this.#context, keyChanged(event, key, by));
      return key;
    });
  }
}
