import type { PresenceStore, Present } from '../presence.js';
import { whole } from '../sql/rows.js';
import type { Context } from './context.js';

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** No key has the empty name. */
const EVERYONE = '';

export class PostgresPresence implements PresenceStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async put(node: string, present: readonly Present[]): Promise<void> {
    const forget = `DELETE FROM presence WHERE node = ? AND principal <> ALL(?::text[]) OR until <= ${NOW}`;
    const say = `INSERT INTO presence (node, principal, until)
      SELECT ?, principal, ${NOW} + ms FROM unnest(?::text[], ?::bigint[]) AS given (principal, ms)
      ON CONFLICT (node, principal) DO UPDATE SET until = excluded.until`;
    const names = present.map(({ principal }) => principal ?? EVERYONE);
    const times = present.map(({ forMs }) => whole(forMs));
    await this.#context.database.transaction(
      (queries) => Promise.all([queries.run(forget, [node, names]), queries.run(say, [node, names, times])]),
      'relaxed',
    );
  }

  async isThere(principal: string): Promise<boolean> {
    const sql = `SELECT 1 AS there FROM presence WHERE principal = ANY(?::text[]) AND until > ${NOW} LIMIT 1`;
    return (await this.#context.database.get(sql, [[principal, EVERYONE]])) !== undefined;
  }
}
