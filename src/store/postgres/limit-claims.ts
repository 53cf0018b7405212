import type { LimitClaim, LimitClaimStore } from '../limit-claims.js';
import { number, text, whole } from '../sql/rows.js';
import type { Context } from './context.js';

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** `TGLC`: the advisory lock of claims. What is read of others holds until the claim is written. */
const LOCK = 0x54474c43;

const OTHERS = `SELECT name, sum(claimed) AS claimed FROM limit_claims
  WHERE name = ANY(?::text[]) AND node <> ? AND until > ${NOW} GROUP BY name`;
const FORGET = `DELETE FROM limit_claims WHERE node = ? AND name = ANY(?::text[]) OR until <= ${NOW}`;
const SAY = `INSERT INTO limit_claims (node, name, claimed, until)
  SELECT ?, name, claimed, ${NOW} + ms FROM unnest(?::text[], ?::bigint[], ?::bigint[]) AS given (name, claimed, ms)
  ON CONFLICT (name, node) DO UPDATE SET claimed = excluded.claimed, until = excluded.until`;

export class PostgresLimitClaims implements LimitClaimStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  claim(node: string, claims: readonly LimitClaim[]): Promise<ReadonlyMap<string, number>> {
    return this.#context.database.transaction(async (queries) => {
      // Sent together: the second statement sees what was written before the lock was free.
      const names = claims.map(({ name }) => name);
      const [, rows] = await Promise.all([
        queries.run('SELECT pg_advisory_xact_lock(?)', [LOCK]),
        queries.all(OTHERS, [names, node]),
      ]);
      const others = new Map(rows.map((row) => [text(row, 'name'), number(row, 'claimed')]));
      const granted = claims.map(({ name, limit, held, wanted }) =>
        whole(Math.max(held, Math.min(wanted, limit - (others.get(name) ?? 0)), 0)),
      );
      const of = (isKept: boolean) =>
        claims.map((_, at) => at).filter((at) => (granted[at] ?? 0) > 0 === isKept);
      const gone = of(false).map((at) => names[at] ?? '');
      const kept = of(true);
      await Promise.all([
        queries.run(FORGET, [node, gone]),
        queries.run(SAY, [
          node,
          kept.map((at) => names[at] ?? ''),
          kept.map((at) => granted[at] ?? 0),
          kept.map((at) => whole(claims[at]?.forMs ?? 0)),
        ]),
      ]);
      return new Map(names.map((name, at) => [name, granted[at] ?? 0]));
    }, 'relaxed');
  }
}
