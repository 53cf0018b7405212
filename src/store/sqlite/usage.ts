import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Histogram, histogramOf, merge } from '../../core/histogram.js';
import type { UsageDimension, UsageQuery, UsageRecord, UsageStore, UsageSum } from '../usage.js';
import { WriteBuffer } from '../write-buffer.js';
import type { Context } from './context.js';
import { Conditions } from './paging.js';
import { json, number, type Row, whole } from './rows.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Rows summed between two turns of the event loop: some milliseconds. */
const STEP_ROWS = 5000;

const DIMENSIONS: Readonly<Record<UsageDimension, string>> = {
  model: 'model',
  principal: 'principal',
  upstream: 'upstream',
  session: 'session',
  // Parameters are REAL: without the cast this would not be whole days.
  day: `(at + CAST(? AS INTEGER)) / ${DAY_MS}`,
  hour: `(at + CAST(? AS INTEGER)) / ${HOUR_MS}`,
};

/** Spans of time, numbered from the epoch: how they are named. */
const SPANS: Readonly<Partial<Record<UsageDimension, (number: number) => string>>> = {
  day: (number) => new Date(number * DAY_MS).toISOString().slice(0, 10),
  hour: (number) => new Date(number * HOUR_MS).toISOString().slice(0, 13),
};

/** Rounded and counted here: grouping by rounded values as well takes SQLite three times as long. */
const TIMES = `json_group_array(latency_ms) AS latencies,
  json_group_array(first_token_ms) FILTER (WHERE first_token_ms IS NOT NULL) AS first_tokens`;

const NO_TIMES = "'[]' AS latencies, '[]' AS first_tokens";

const SUMS = `count(*) AS requests, sum(status >= 400) AS errors,
  sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
  sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
  sum(reasoning_tokens) AS reasoning_tokens, total(cost_usd) AS cost_usd,
  count(*) - count(cost_usd) AS unpriced, sum(latency_ms) AS latency_ms, max(latency_ms) AS max_latency_ms,
  total(first_token_ms) AS first_token_ms, count(first_token_ms) AS streamed`;

/** Sums that can be added up step by step; means are taken at the end. */
const ADDED = [
  'requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost_usd',
  'unpriced',
  'latency_ms',
  'first_token_ms',
  'streamed',
] as const;

type Totals = Record<(typeof ADDED)[number] | 'max_latency_ms', number>;

interface Group {
  key: (string | number)[];
  totals: Totals;
  latencies: Histogram;
  firstTokens: Histogram;
}

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
      onError: context.onError,
    });
  }

  record(row: UsageRecord): void {
    void this.#buffer.add(row);
  }

  async summarise(query: UsageQuery): Promise<UsageSum[]> {
    await this.#buffer.flush();
    const groups = new Map<string, Group>();
    let from = query.from;
    while (from < query.to) {
      const to = isNarrow(query) ? query.to : await this.#stepEnd(from, query.to);
      for (const row of await this.#sum(query, from, to)) addTo(groups, query.by, row);
      from = to;
      if (from < query.to) await nextTurn();
    }
    const ordered = [...groups.values()].sort((a, b) => compareKeys(a.key, b.key));
    return ordered.map((group) => finish(group, query.by));
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
    for (const dimension of query.by) if (dimension in SPANS) where.params.push(offset);
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
    const sql = `INSERT INTO usage (at, principal, model, upstream, session, status, input_tokens, output_tokens,
        cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, latency_ms, first_token_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    database.run(sql, [
      whole(row.at),
      row.principal,
      redact(row.model),
      row.upstream,
      row.session ?? '',
      row.status,
      whole(row.inputTokens),
      whole(row.outputTokens),
      whole(row.cacheReadTokens),
      whole(row.cacheWriteTokens),
      whole(row.reasoningTokens ?? 0),
      row.costUsd ?? null,
      whole(row.latencyMs),
      row.firstTokenMs === undefined ? null : whole(row.firstTokenMs),
    ]);
  }
}

/** Has an index of its own, so that it is one short step. */
function isNarrow({ session, sessions }: UsageQuery): boolean {
  return session !== undefined || sessions !== undefined;
}

function addTo(groups: Map<string, Group>, by: readonly UsageDimension[], row: Row): void {
  const key = by.map((_, index) => {
    const value = row[`d${index}`];
    return typeof value === 'number' ? value : String(value);
  });
  const id = JSON.stringify(key);
  const found: Group = {
    key,
    totals: readTotals(row),
    latencies: histogramOf(json(row, 'latencies')),
    firstTokens: histogramOf(json(row, 'first_tokens')),
  };
  const group = groups.get(id);
  if (group === undefined) groups.set(id, found);
  else addGroup(group, found);
}

function addGroup(group: Group, { totals, latencies, firstTokens }: Group): void {
  for (const name of ADDED) group.totals[name] += totals[name];
  group.totals.max_latency_ms = Math.max(group.totals.max_latency_ms, totals.max_latency_ms);
  group.latencies = merge([group.latencies, latencies]);
  group.firstTokens = merge([group.firstTokens, firstTokens]);
}

function readTotals(row: Row): Totals {
  return {
    requests: number(row, 'requests'),
    errors: number(row, 'errors'),
    input_tokens: number(row, 'input_tokens'),
    output_tokens: number(row, 'output_tokens'),
    cache_read_tokens: number(row, 'cache_read_tokens'),
    cache_write_tokens: number(row, 'cache_write_tokens'),
    reasoning_tokens: number(row, 'reasoning_tokens'),
    cost_usd: number(row, 'cost_usd'),
    unpriced: number(row, 'unpriced'),
    latency_ms: number(row, 'latency_ms'),
    first_token_ms: number(row, 'first_token_ms'),
    streamed: number(row, 'streamed'),
    max_latency_ms: number(row, 'max_latency_ms'),
  };
}

function finish({ key, totals, latencies, firstTokens }: Group, by: readonly UsageDimension[]): UsageSum {
  const group: UsageSum['group'] = {};
  for (const [index, dimension] of by.entries()) {
    const value = key[index] ?? '';
    group[dimension] = typeof value === 'number' ? (SPANS[dimension]?.(value) ?? String(value)) : value;
  }
  return {
    group,
    requests: totals.requests,
    errors: totals.errors,
    inputTokens: totals.input_tokens,
    outputTokens: totals.output_tokens,
    cacheReadTokens: totals.cache_read_tokens,
    cacheWriteTokens: totals.cache_write_tokens,
    reasoningTokens: totals.reasoning_tokens,
    costUsd: totals.cost_usd,
    unpriced: totals.unpriced,
    meanLatencyMs: totals.latency_ms / totals.requests,
    maxLatencyMs: totals.max_latency_ms,
    latencies,
    firstTokens,
    ...(totals.streamed > 0 && { meanFirstTokenMs: totals.first_token_ms / totals.streamed }),
  };
}

function compareKeys(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? '';
    if (left < right) return -1;
    if (left > right) return 1;
  }
  return 0;
}
