/** Sums of the gateway as figures to draw: by time, by model, key or team, and in all. */
import type { TokenCounts } from '../../../../src/activity/wire.js';
import { merge, percentile } from '../../../../src/core/histogram.js';
import type { UsageRowWire } from '../../../../src/server/console-api/wire/usage.js';

export const RANGES = {
  '24h': { step: 'hour', count: 24 },
  '7d': { step: 'day', count: 7 },
  '30d': { step: 'day', count: 30 },
} as const;

export type Range = keyof typeof RANGES;
export const GROUPS = ['model', 'key', 'team'] as const;
export type Group = (typeof GROUPS)[number];

export const isRange = (value: string | null | undefined): value is Range =>
  value !== null && value !== undefined && Object.hasOwn(RANGES, value);

export interface Bucket {
  /** As the gateway names it. */
  key: string;
  begins: Date;
}

const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const;
/** Of `YYYY-MM-DDTHH` and `YYYY-MM-DD`. */
const KEY_LENGTH = { hour: 13, day: 10 } as const;

/** Whole hours or days, the last one containing `now`; with the gateway's boundaries. */
export function bucketsOf(range: Range, now: Date, offsetMinutes = utcOffset(now)): Bucket[] {
  const { step, count } = RANGES[range];
  const size = STEP_MS[step];
  const offset = offsetMinutes * 60_000;
  const last = Math.floor((now.getTime() + offset) / size);
  return Array.from({ length: count }, (_, index) => {
    const shifted = (last - (count - 1 - index)) * size;
    return {
      key: new Date(shifted).toISOString().slice(0, KEY_LENGTH[step]),
      begins: new Date(shifted - offset),
    };
  });
}

/** Minutes east of UTC, as the gateway wants them. */
export const utcOffset = (now: Date): number => -now.getTimezoneOffset();

export interface Totals extends TokenCounts {
  requests: number;
  errors: number;
  /** Undefined where no price is known for any of it, which is not the same as nothing. */
  costUsd: number | undefined;
  unpriced: number;
  /** Undefined where there was no request. */
  medianLatencyMs: number | undefined;
  p95LatencyMs: number | undefined;
  maxLatencyMs: number | undefined;
  /** Undefined where nothing streamed. */
  medianFirstTokenMs: number | undefined;
}

export function totalsOf(rows: readonly UsageRowWire[]): Totals {
  const sum = (of: (row: UsageRowWire) => number): number => rows.reduce((all, row) => all + of(row), 0);
  const requests = sum((row) => row.requests);
  const unpriced = sum((row) => row.unpriced_requests);
  const longest = Math.max(0, ...rows.map((row) => row.max_latency_ms));
  const latencies = merge(rows.map((row) => row.latency_histogram ?? []));
  const firstTokens = merge(rows.map((row) => row.first_token_histogram ?? []));
  return {
    requests,
    errors: sum((row) => row.errors),
    input_tokens: sum((row) => row.input_tokens),
    output_tokens: sum((row) => row.output_tokens),
    cache_read_tokens: sum((row) => row.cache_read_tokens),
    cache_write_tokens: sum((row) => row.cache_write_tokens),
    costUsd: requests > 0 && unpriced >= requests ? undefined : sum((row) => row.cost_usd ?? 0),
    unpriced,
    medianLatencyMs: percentile(latencies, 50, longest),
    p95LatencyMs: percentile(latencies, 95, longest),
    maxLatencyMs: requests === 0 ? undefined : longest,
    medianFirstTokenMs: percentile(firstTokens, 50, longest),
  };
}

export interface Series {
  name: string;
  /** One for each bucket; undefined where nothing is known. */
  values: readonly (number | undefined)[];
}

/** More are one series "others". */
const SHOWN_SERIES = 5;
/** Groups that are asked for: as many as are drawn without "others". */
export const ASKED_GROUPS = SHOWN_SERIES + 1;

/** Rows by their group, the one with the most requests first. */
export function groupRows(
  rows: readonly UsageRowWire[],
  group: Group,
): { name: string; rows: readonly UsageRowWire[] }[] {
  return [...rowsBy(rows, (row) => row[group] ?? '')]
    .map(([name, of]) => ({ name, rows: of, requests: of.reduce((all, row) => all + row.requests, 0) }))
    .toSorted((a, b) => b.requests - a.requests || a.name.localeCompare(b.name));
}

/** What a series of each chart is made of: totals for each bucket. */
interface Line {
  name: string;
  totals: readonly Totals[];
}

/** One line for each of the most used groups, and one for what is left. */
export function linesBy(
  rows: readonly UsageRowWire[],
  buckets: readonly Bucket[],
  group: Group,
  others: string,
): Line[] {
  const groups = groupRows(
    rows.filter((row) => row.others !== true),
    group,
  );
  const left = rows.filter((row) => row.others === true);
  const isAll = groups.length <= ASKED_GROUPS && left.length === 0;
  const shown = isAll ? groups : groups.slice(0, SHOWN_SERIES);
  const rest = [...groups.slice(shown.length).flatMap((each) => each.rows), ...left];
  const all = rest.length === 0 ? shown : [...shown, { name: others, rows: rest }];
  return all.map(({ name, rows: of }) => ({ name, totals: byBucket(of, buckets) }));
}

export function byBucket(rows: readonly UsageRowWire[], buckets: readonly Bucket[]): Totals[] {
  const inBucket = rowsBy(rows, (row) => row.hour ?? row.day ?? '');
  return buckets.map(({ key }) => totalsOf(inBucket.get(key) ?? []));
}

function rowsBy(
  rows: readonly UsageRowWire[],
  keyOf: (row: UsageRowWire) => string,
): Map<string, UsageRowWire[]> {
  const found = new Map<string, UsageRowWire[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = found.get(key);
    if (known === undefined) found.set(key, [row]);
    else known.push(row);
  }
  return found;
}

const COLUMNS = [
  'requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost_usd',
  'unpriced_requests',
  'mean_latency_ms',
  'max_latency_ms',
  'mean_first_token_ms',
  'p50_latency_ms',
  'p95_latency_ms',
  'p50_first_token_ms',
  'p95_first_token_ms',
] as const satisfies readonly (keyof UsageRowWire)[];

/** An unknown cost is an empty cell. */
export function usageCsv(rows: readonly UsageRowWire[]): string {
  const head = ['time', 'model', 'key', ...COLUMNS];
  const lines = rows.map((row) => [
    row.hour ?? row.day ?? '',
    row.model ?? '',
    row.key ?? '',
    ...COLUMNS.map((column) => String(row[column] ?? '')),
  ]);
  return [head, ...lines].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

/** A text that begins like a formula is one to a spreadsheet: names come from outside. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
