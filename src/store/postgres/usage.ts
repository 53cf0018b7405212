import { Conditions } from '../sql/paging.js';
import { number, type Row, whole } from '../sql/rows.js';
import { DAY_MS, HOUR_MS, isNarrow, isSpan, USAGE_COLUMNS, UsageGroups, usageValues } from '../sql/usage.js';
import type { UsageDimension, UsageQuery, UsageRecord, UsageStore, UsageSum } from '../usage.js';
import { isRefused, isStoreAway, WriteBuffer } from '../write-buffer.js';
import type { Context } from './context.js';
import { insertRows, type Value } from './database.js';

/** Rows whose times are read in one answer: some milliseconds. Without times the server sums all at once. */
const STEP_ROWS = 20_000;

const DIMENSIONS: Readonly<Record<UsageDimension, string>> = {
  model: 'model',
  principal: 'principal',
  team: 'team',
  upstream: 'upstream',
  session: 'session',
  day: `(at + ?::bigint) / ${DAY_MS}`,
  hour: `(at + ?::bigint) / ${HOUR_MS}`,
};

const TIMES = `json_agg(latency_ms)::text AS latencies,
  coalesce(json_agg(first_token_ms) FILTER (WHERE first_token_ms IS NOT NULL), '[]')::text AS first_tokens`;

const NO_TIMES = "'[]' AS latencies, '[]' AS first_tokens";

const SUMS = `count(*) AS requests, count(*) FILTER (WHERE status >= 400 AND status <> 499) AS errors,
  sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
  sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
  sum(reasoning_tokens) AS reasoning_tokens, coalesce(sum(cost_usd), 0) AS cost_usd,
  count(*) - count(cost_usd) AS unpriced, sum(latency_ms) AS latency_ms, max(latency_ms) AS max_latency_ms,
  coalesce(sum(first_token_ms), 0) AS first_token_ms, count(first_token_ms) AS streamed`;

export class PostgresUsage implements UsageStore {
  readonly #context: Context;
  readonly #buffer: WriteBuffer<UsageRecord>;

  constructor(context: Context) {
    this.#context = context;
    const { database, limits, redact } = context;
    const { delayMs, flushRows, maxRows } = limits.buffer;
    // A batch whose transaction was ending may be written: kept, it would count twice.
    let isEnding = false;
    this.#buffer = new WriteBuffer({
      write: (rows) => {
        isEnding = false;
        return database.transaction(async (queries) => {
          isEnding = false;
          const values = rows.map((row) => usageValues(row, redact));
          await insertRows(queries, `usage (${USAGE_COLUMNS})`, values);
          isEnding = true;
        }, 'relaxed');
      },
      delayMs,
      flushRows,
      maxRows,
      // Budgets count them.
      keeps: (error) => !isEnding && isStoreAway(error),
      splits: (error) => !isEnding && isRefused(error),
      onError: context.onError,
    });
  }

  record(row: UsageRecord): void {
    void this.#buffer.add(row);
  }

  async summarise(query: UsageQuery): Promise<UsageSum[]> {
    await this.#buffer.flush();
    const groups = new UsageGroups(query.by);
    // Rows have whole milliseconds.
    const end = Math.ceil(query.to);
    for (let from = Math.ceil(query.from); from < end; ) {
      const to = query.histograms && !isNarrow(query) ? await this.#stepEnd(from, end) : end;
      groups.add(await this.#sum(query, from, to));
      from = to;
    }
    return groups.sums();
  }

  flush(): Promise<void> {
    return this.#buffer.flush();
  }

  /** Steps are cut by time, so that rows written meanwhile are neither lost nor counted twice. */
  async #stepEnd(from: number, to: number): Promise<number> {
    const sql = `SELECT at FROM usage WHERE at >= ? AND at < ? ORDER BY at LIMIT 1 OFFSET ${STEP_ROWS}`;
    const row = await this.#context.database.get(sql, [from, to]);
    // A step always advances, however many rows share one millisecond.
    return row === undefined ? to : Math.max(number(row, 'at'), from + 1);
  }

  #sum(query: UsageQuery, from: number, to: number): Promise<Row[]> {
    const offset = whole((query.utcOffsetMinutes ?? 0) * 60_000);
    const columns = query.by.map((dimension, index) => `${DIMENSIONS[dimension]} AS d${index}`);
    const where = new Conditions<Value>();
    for (const dimension of query.by) if (isSpan(dimension)) where.params.push(offset);
    where.add('at >= ? AND at < ?', from, to);
    where.equal('principal', query.principal);
    where.equal('session', query.session);
    if (query.sessions !== undefined) where.add('session = ANY(?::text[])', query.sessions);
    const grouping = columns.length === 0 ? '' : `GROUP BY ${columns.map((_, index) => `d${index}`)}`;
    const sums = [...columns, SUMS, query.histograms === true ? TIMES : NO_TIMES];
    // Without a grouping SQL gives a row for nothing at all.
    const sql = `SELECT ${sums} FROM usage WHERE ${where} ${grouping} HAVING count(*) > 0`;
    return this.#context.database.all(sql, where.params);
  }
}
