import type { SqlValue } from '../sql/rows.js';
import {
  ADD_UPSTREAM,
  LIST_UPSTREAMS,
  REMOVE_UPSTREAM,
  readUpstream,
  upstreamChanged,
  upstreamValues,
} from '../sql/upstreams.js';
import type { NewUpstream, StoredUpstream, UpstreamStore } from '../upstreams.js';
import { insertAudit } from './audit.js';
import type { Context } from './context.js';

export class PostgresUpstreams implements UpstreamStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  add(upstream: NewUpstream, by: string): Promise<StoredUpstream | undefined> {
    const values = upstreamValues(upstream, by, this.#context.now());
    return this.#change('upstream.added', by, ADD_UPSTREAM, values);
  }

  async list(): Promise<StoredUpstream[]> {
    return (await this.#context.database.all(LIST_UPSTREAMS)).map(readUpstream);
  }

  remove(name: string, by: string): Promise<StoredUpstream | undefined> {
    return this.#change('upstream.removed', by, REMOVE_UPSTREAM, [name]);
  }

  /** A change and its line in the audit log are one. */
  async #change(
    event: string,
    by: string,
    sql: string,
    values: SqlValue[],
  ): Promise<StoredUpstream | undefined> {
    const { database, notifier } = this.#context;
    const changed = await database.transaction(async (queries) => {
      const row = await queries.get(sql, values);
      if (row === undefined) return undefined;
      const upstream = readUpstream(row);
      await insertAudit(this.#context, queries, [upstreamChanged(event, upstream, by)]);
      return upstream;
    });
    if (changed !== undefined) notifier.wake();
    return changed;
  }
}
