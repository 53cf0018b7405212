import { setImmediate as nextTurn } from 'node:timers/promises';
import { Conditions } from '../sql/paging.js';
import { number, type Row, whole } from '../sql/rows.js';
import { DAY_MS, HOUR_MS, isNarrow, isSpan, USAGE_COLUMNS, UsageGroups, usageValues } from '../sql/usage.js';
import type { UsageDimension, UsageQuery, UsageRecord, UsageStore, UsageSum } from '../usage.js';
import { isRefused, isStoreAway, WriteBuffer } from '../write-buffer.js';
import type { Context } from './context.js';

/** Rows summed between two turns of the event loop: some milliseconds. */
const STEP_ROWS = 5000;

const DIMENSIONS: Readonly<Record<UsageDimension, string>> = {
  model: 'model',
  principal: 'principal',
  team: 'team',
  upstream: 'upstream',
  session: 'session',
  // Parameters are REAL: without the cast this would not be whole days.
  day: `(at + CAST(? AS INTEGER)) / ${DAY_MS}`,
  hour: `(at + CAST(? AS INTEGER)) / ${HOUR_MS}`,
};

/** Rounded and counted here: grouping by rounded values as well takes SQLite three times as long. */
const TIMES = `json_group_array(latency_ms) AS latencies,
  json_group_array(first_token_ms) FILTER (WHERE first_token_ms IS NOT NULL) AS first_tokens`;

const NO_TIMES = "'[]' AS latencies, '[]' AS first_tokens";

const SUMS = `count(*) AS requests, sum(status >= 400 AND status <> 499) AS errors,
  sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
  sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
  sum(reasoning_tokens) AS reasoning_tokens, total(cost_usd) AS cost_usd,
  count(*) - count(cost_usd) AS unpriced, sum(latency_ms) AS latency_ms, max(latency_ms) AS max_latency_ms,
  total(first_token_ms) AS first_token_ms, count(first_token_ms) AS streamed`;

export class SqliteUsage implements UsageStore {
  readonly #context: Context;
  readonly #buffer: WriteBuffer<UsageRecord>;

  constructor(context: Context) {
    this.#context = context;
    const { delayMs, flushRows, maxRows } = context.limits.buffer;
    this.#buffer = new WriteBuffer({
      write: (rows) =>
        context.database.write(() => {
          for (const row of rows) this.#insert(row);
        }, 'relaxed'),
      delayMs,
      flushRows,
      maxRows,
      // Budgets count them.
      keeps: isStoreAway,
      splits: isRefused,
      onError: context.onError,
    });
  }

  record(row: UsageRecord): void {
    void this.#buffer.add(row);
  }

  async summarise(query: UsageQuery): Promise<UsageSum[]> {
    await this.#buffer.flush();
    const groups = new UsageGroups(query.by);
    let from = query.from;
    while (from < query.to) {
      const to = isNarrow(query) ? query.to : await this.#stepEnd(from, query.to);
      groups.add(await this.#sum(query, from, to));
      from = to;
      if (from < query.to) await nextTurn();
    }
    return groups.sums();
  }

  flush(): Promise<void> {
    return this.#buffer.flush();
  }

  /** Steps are cut by time, so that rows written meanwhile are neither lost nor counted twice. */
  #stepEnd(from: number, to: number): Promise<number> {
    const { database } = this.#context;
    const sql = `SELECT at FROM usage WHERE at >= ? AND at < ? ORDER BY at LIMIT 1 OFFSET ${STEP_ROWS}`;
    return database.read(() => {
      const row = database.get(sql, [from, to]);
      // A step always advances, however many rows share one millisecond.
      return row === undefined ? to : Math.max(number(row, 'at'), Math.floor(from) + 1);
    });
  }

  #sum(query: UsageQuery, from: number, to: number): Promise<Row[]> {
    const { database } = this.#context;
    const offset = whole((query.utcOffsetMinutes ?? 0) * 60_000);
    const columns = query.by.map((dimension, index) => `${DIMENSIONS[dimension]} AS d${index}`);
    const where = new Conditions();
    for (const dimension of query.by) if (isSpan(dimension)) where.params.push(offset);
    where.add('at >= ? AND at < ?', from, to);
    where.equal('principal', query.principal);
    where.equal('session', query.session);
    if (query.sessions !== undefined) {
      where.add('session IN (SELECT value FROM json_each(?))', JSON.stringify(query.sessions));
    }
    const grouping = columns.length === 0 ? '' : `GROUP BY ${columns.map((_, index) => `d${index}`)}`;
    // Without a grouping SQL gives a row for nothing at all.
    const sums = [...columns, SUMS, query.histograms === true ? TIMES : NO_TIMES];
    const sql = `SELECT ${sums} FROM usage WHERE ${where} ${grouping} HAVING requests > 0`;
    return database.read(() => database.all(sql, where.params));
  }

  #insert(row: UsageRecord): void {
    const { database, redact } = this.#context;
    const sql = `INSERT INTO usage (${USAGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    database.run(sql, usageValues(row, redact));
  }
}
