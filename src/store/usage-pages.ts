/**
 * Sums in pages: newest span of time first, then the most used. No answer grows with the store, while `total` is
 * always that of all groups.
 */
import { merge } from '../core/histogram.js';
import { badCursor, pageSize } from './pages.js';
import type { Page } from './store.js';
import type { UsageDimension, UsageQuery, UsageStore, UsageSum } from './usage.js';

export const USAGE_SORTS = ['requests', 'tokens', 'cost'] as const;
type UsageSort = (typeof USAGE_SORTS)[number];

interface UsagePageQuery extends Omit<UsageQuery, 'histograms'> {
  sort: UsageSort;
  limit: number;
  /** `next` of the page before. It has the times of the first page: `from` and `to` are not read. */
  cursor?: string;
  /** So many of the most used groups; all others are one, for each span of time. */
  top?: number;
}

export interface UsagePage extends Page<UsageRow> {
  from: number;
  to: number;
  /** Of all pages, without histograms; absent where there was nothing. */
  total?: UsageSum;
}

/** `others`: what is not among the most used, so that its group has spans of time alone. */
export type UsageRow = UsageSum & { others?: true };

/** Rejects with `invalid_request` for a cursor that is none of this query. */
export async function pageUsage(
  store: Pick<UsageStore, 'summarise'>,
  { sort, limit, cursor, top, ...asked }: UsagePageQuery,
): Promise<UsagePage> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, asked.by.length);
  const query = after === undefined ? asked : { ...asked, from: after.from, to: after.to };
  const { from, to, by } = query;
  // Sessions are many: those of the page alone have their histograms read.
  const isLate = by.includes('session') && top === undefined;
  const sums = await store.summarise({ ...query, histograms: !isLate });
  const rows = top === undefined ? sums : foldOthers(sums, by, sort, top);
  const placed = rows
    .map((row) => ({ row, place: placeOf(row, by, sort) }))
    .toSorted((a, b) => compare(a.place, b.place));
  const left = after === undefined ? placed : placed.filter(({ place }) => compare(place, after.place) > 0);
  const shown = left.slice(0, pageSize(limit));
  const last = shown.at(-1);
  const items = shown.map(({ row }) => row);
  return {
    from,
    to,
    items: isLate ? await withHistograms(store, query, items) : items,
    ...(sums.length > 0 && { total: { ...addUp(sums, {}), latencies: [], firstTokens: [] } }),
    ...(left.length > shown.length && last !== undefined && { next: encodeCursor(from, to, last.place) }),
  };
}

const TIMES: readonly UsageDimension[] = ['day', 'hour'];
const isTime = (dimension: UsageDimension): boolean => TIMES.includes(dimension);

const FIGURES: Readonly<Record<UsageSort, (sum: UsageSum) => number>> = {
  requests: ({ requests }) => requests,
  tokens: (sum) => sum.inputTokens + sum.outputTokens + sum.cacheReadTokens + sum.cacheWriteTokens,
  cost: ({ costUsd }) => costUsd,
};

/** What rows are ordered by. */
interface Place {
  times: string[];
  others: boolean;
  figure: number;
  names: string[];
}

function placeOf(row: UsageRow, by: readonly UsageDimension[], sort: UsageSort): Place {
  const names = (which: (dimension: UsageDimension) => boolean): string[] =>
    by.filter(which).map((dimension) => row.group[dimension] ?? '');
  return {
    times: names(isTime),
    others: row.others === true,
    figure: FIGURES[sort](row),
    names: names((dimension) => !isTime(dimension)),
  };
}

function compare(a: Place, b: Place): number {
  return (
    compareTexts(b.times, a.times) ||
    Number(a.others) - Number(b.others) ||
    b.figure - a.figure ||
    compareTexts(a.names, b.names)
  );
}

function compareTexts(a: readonly string[], b: readonly string[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? '';
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

function foldOthers(
  sums: readonly UsageSum[],
  by: readonly UsageDimension[],
  sort: UsageSort,
  top: number,
): UsageRow[] {
  const names = ({ group }: UsageSum): string =>
    JSON.stringify(by.filter((dimension) => !isTime(dimension)).map((dimension) => group[dimension]));
  const ranked = [...groupBy(sums, names)]
    .map(([name, of]) => ({ name, figure: of.reduce((all, sum) => all + FIGURES[sort](sum), 0) }))
    .toSorted((a, b) => b.figure - a.figure || compareTexts([a.name], [b.name]));
  const kept = new Set(ranked.slice(0, top).map(({ name }) => name));
  const others = sums.filter((sum) => !kept.has(names(sum)));
  const times = ({ group }: UsageSum): UsageSum['group'] =>
    Object.fromEntries(by.filter(isTime).map((dimension) => [dimension, group[dimension] ?? '']));
  const folded = [...groupBy(others, (sum) => JSON.stringify(times(sum))).values()].map((of): UsageRow => {
    const [first] = of;
    return { ...addUp(of, first === undefined ? {} : times(first)), others: true };
  });
  return [...sums.filter((sum) => kept.has(names(sum))), ...folded];
}

function groupBy(sums: readonly UsageSum[], keyOf: (sum: UsageSum) => string): Map<string, UsageSum[]> {
  const groups = new Map<string, UsageSum[]>();
  for (const sum of sums) {
    const key = keyOf(sum);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [sum]);
    else group.push(sum);
  }
  return groups;
}

function addUp(sums: readonly UsageSum[], group: UsageSum['group']): UsageSum {
  const all = (of: (sum: UsageSum) => number): number => sums.reduce((total, sum) => total + of(sum), 0);
  const requests = all((sum) => sum.requests);
  const streamed = all((sum) => sum.streamed);
  return {
    group,
    requests,
    errors: all((sum) => sum.errors),
    inputTokens: all((sum) => sum.inputTokens),
    outputTokens: all((sum) => sum.outputTokens),
    cacheReadTokens: all((sum) => sum.cacheReadTokens),
    cacheWriteTokens: all((sum) => sum.cacheWriteTokens),
    reasoningTokens: all((sum) => sum.reasoningTokens),
    costUsd: all((sum) => sum.costUsd),
    unpriced: all((sum) => sum.unpriced),
    meanLatencyMs: all((sum) => sum.meanLatencyMs * sum.requests) / requests,
    maxLatencyMs: sums.reduce((most, sum) => Math.max(most, sum.maxLatencyMs), 0),
    latencies: merge(sums.map(({ latencies }) => latencies)),
    streamed,
    ...(streamed > 0 && {
      meanFirstTokenMs: all((sum) => (sum.meanFirstTokenMs ?? 0) * sum.streamed) / streamed,
    }),
    firstTokens: merge(sums.map(({ firstTokens }) => firstTokens)),
  };
}

/** Rows may have been written since they were counted: what the page says of them is what is true now. */
async function withHistograms(
  store: Pick<UsageStore, 'summarise'>,
  query: UsageQuery,
  rows: readonly UsageRow[],
): Promise<UsageRow[]> {
  const sessions = [...new Set(rows.map(({ group }) => group.session ?? ''))];
  const key = ({ group }: UsageSum): string =>
    JSON.stringify(query.by.map((dimension) => group[dimension] ?? ''));
  const found = new Map(
    (await store.summarise({ ...query, sessions, histograms: true })).map((sum) => [key(sum), sum]),
  );
  return rows.map((row) => found.get(key(row)) ?? row);
}

function encodeCursor(from: number, to: number, { times, others, figure, names }: Place): string {
  return Buffer.from(JSON.stringify([from, to, times, others, figure, names])).toString('base64url');
}

function decodeCursor(cursor: string, dimensions: number): { from: number; to: number; place: Place } {
  const [from, to, times, others, figure, names] = parse(cursor);
  if (
    !isMoment(from) ||
    !isMoment(to) ||
    typeof figure !== 'number' ||
    typeof others !== 'boolean' ||
    !isTexts(times) ||
    !isTexts(names) ||
    times.length + names.length !== dimensions
  ) {
    throw badCursor();
  }
  return { from, to, place: { times, others, figure, names } };
}

function parse(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const isMoment = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) <= 8.64e15;
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
