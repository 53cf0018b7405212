import { type Histogram, histogramOf, merge } from '../../core/histogram.js';
import type { UsageDimension, UsageQuery, UsageRecord, UsageSum } from '../usage.js';
import { json, number, type Row, type SqlValue, whole } from './rows.js';

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;

/** Spans of time, numbered from the epoch: how they are named. */
const SPANS: Readonly<Partial<Record<UsageDimension, (number: number) => string>>> = {
  day: (number) => new Date(number * DAY_MS).toISOString().slice(0, 10),
  hour: (number) => new Date(number * HOUR_MS).toISOString().slice(0, 13),
};

export const USAGE_COLUMNS = `at, principal, model, upstream, session, status, input_tokens, output_tokens,
  cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, latency_ms, first_token_ms, team`;

export function usageValues(row: UsageRecord, redact: (text: string) => string): SqlValue[] {
  return [
    whole(row.at),
    row.principal,
    redact(row.model),
    row.upstream,
    row.session ?? '',
    row.status,
    count(row.inputTokens),
    count(row.outputTokens),
    count(row.cacheReadTokens),
    count(row.cacheWriteTokens),
    count(row.reasoningTokens ?? 0),
    Number.isFinite(row.costUsd) ? (row.costUsd ?? null) : null,
    whole(row.latencyMs),
    row.firstTokenMs === undefined ? null : whole(row.firstTokenMs),
    row.team ?? '',
  ];
}

/** Sums of as many rows as are kept have to fit into 64 bits: SQLite refuses to sum up what does not. */
const MOST_TOKENS = 1_000_000_000_000;

/** Figures come from upstreams: one that is no count must not keep a row from being written. */
function count(value: number): number {
  return Math.min(MOST_TOKENS, Math.max(0, whole(value))) || 0;
}

/** Whether the dimension is a span of time, for which the sums need the reader's offset. */
export function isSpan(dimension: UsageDimension): boolean {
  return dimension in SPANS;
}

/** Sums of several steps, added up by group. */
export class UsageGroups {
  readonly #by: readonly UsageDimension[];
  readonly #groups = new Map<string, Group>();

  constructor(by: readonly UsageDimension[]) {
    this.#by = by;
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) addTo(this.#groups, this.#by, row);
  }

  /** Ordered by the dimensions. */
  sums(): UsageSum[] {
    const ordered = [...this.#groups.values()].sort((a, b) => compareKeys(a.key, b.key));
    return ordered.map((group) => finish(group, this.#by));
  }
}

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

/** Has an index of its own, so that it is one short step. */
export function isNarrow({ session, sessions }: UsageQuery): boolean {
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
    streamed: totals.streamed,
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
