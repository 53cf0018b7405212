/**
 * What is kept of requests: traces, and sums of what was used. Everyone sees their own key's, an
 * administrator all of them.
 */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { type Histogram, percentile } from '../../core/histogram.js';
import { toReplayFile } from '../../observability/replay-file.js';
import type { Trace, TraceQuery } from '../../store/traces.js';
import type { UsageDimension, UsageSum } from '../../store/usage.js';
import { pageUsage, USAGE_SORTS, type UsageRow } from '../../store/usage-pages.js';
import { LIST_PRICES } from '../../upstreams/list-prices.js';
import type { Exchange } from '../http/exchange.js';
import { readInteger, readList, readSwitch, readTime } from '../http/read-request.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import { traceToWire } from '../observe/report.js';
import type { ConsoleApiHandler } from './context.js';
import { ownOnly } from './request.js';
import { costToWire } from './session-wire.js';
import type { UsageRowWire, UsageTotalsWire, UsageWire } from './wire/usage.js';

const DAY_MS = 24 * 3600 * 1000;
/** `key` is the principal's name on this wire, as in traces. */
const DIMENSIONS: Readonly<Record<string, UsageDimension>> = {
  model: 'model',
  key: 'principal',
  team: 'team',
  upstream: 'upstream',
  session: 'session',
  day: 'day',
  hour: 'hour',
};
/** `bucket=day` is `by=day` beside whatever `by` says. */
const BUCKETS = ['day', 'hour'] as const;
const MOST_ROWS = 500;

export const showUsage: ConsoleApiHandler = async (exchange, { store }) => {
  const query = new URLSearchParams(exchange.query);
  const to = readTime(query, 'to', Date.now() + 1);
  const from = readTime(query, 'from', to - 30 * DAY_MS);
  const names = readList(query, 'by', Object.keys(DIMENSIONS), ['model']);
  const session = query.get('session');
  const histograms = readSwitch(query, 'histograms');
  const [bucket] = readList(query, 'bucket', BUCKETS, []);
  const by = bucket === undefined || names.includes(bucket) ? names : [bucket, ...names];
  const [sort = 'requests'] = readList(query, 'sort', USAGE_SORTS, []);
  const cursor = query.get('cursor');
  const page = await pageUsage(store.usage, {
    from,
    to,
    by: by.flatMap((name) => DIMENSIONS[name] ?? []),
    ...ownOnly(exchange),
    ...(session === null ? {} : { session }),
    utcOffsetMinutes: readInteger(query, 'utc_offset_minutes', { default: 0, min: -840, max: 840 }),
    sort,
    limit: readInteger(query, 'limit', { default: MOST_ROWS, min: 1, max: MOST_ROWS }),
    ...(query.has('top') && { top: readInteger(query, 'top', { default: 1, min: 1, max: 100 }) }),
    ...(cursor === null ? {} : { cursor }),
  });
  const answer: UsageWire = {
    from: new Date(page.from).toISOString(),
    to: new Date(page.to).toISOString(),
    list_prices_date: LIST_PRICES.date,
    total: page.total === undefined ? null : totalsToWire(page.total),
    data: page.items.map((sum) => ({ ...toWire(sum), ...(histograms && histogramsOf(sum)) })),
    next: page.next ?? null,
  };
  sendJson(exchange, 200, answer, NO_STORE);
};

function toWire(sum: UsageRow): UsageRowWire {
  const { principal, ...group } = sum.group;
  // A first token never comes after the last one, so the longest answer is a bound for both.
  const at = (percent: number, histogram: Histogram): number | null =>
    percentile(histogram, percent, sum.maxLatencyMs) ?? null;
  return {
    ...group,
    ...(principal === undefined ? {} : { key: principal }),
    ...(sum.others && { others: true }),
    ...totalsToWire(sum),
    mean_latency_ms: sum.meanLatencyMs,
    p50_latency_ms: at(50, sum.latencies),
    p95_latency_ms: at(95, sum.latencies),
    max_latency_ms: sum.maxLatencyMs,
    mean_first_token_ms: sum.meanFirstTokenMs ?? null,
    p50_first_token_ms: at(50, sum.firstTokens),
    p95_first_token_ms: at(95, sum.firstTokens),
  };
}

function totalsToWire(sum: UsageSum): UsageTotalsWire {
  return {
    requests: sum.requests,
    errors: sum.errors,
    input_tokens: sum.inputTokens,
    output_tokens: sum.outputTokens,
    cache_read_tokens: sum.cacheReadTokens,
    cache_write_tokens: sum.cacheWriteTokens,
    reasoning_tokens: sum.reasoningTokens,
    cost_usd: costToWire(sum),
    unpriced_requests: sum.unpriced,
  };
}

function histogramsOf({ latencies, firstTokens }: UsageSum): Partial<UsageRowWire> {
  return { latency_histogram: latencies, first_token_histogram: firstTokens };
}

/** 499: a person stopped it, or its client left. */
const ERRORS = { from: 400, to: 599, except: 499 } as const;

export const listTraces: ConsoleApiHandler = async (exchange, { store }) => {
  const query = new URLSearchParams(exchange.query);
  const cursor = query.get('cursor');
  const page = await store.traces.list({
    ...ownOnly(exchange),
    ...readFilter(query),
    ...(cursor === null ? {} : { cursor }),
    limit: readInteger(query, 'limit', { default: 50, min: 1, max: 500 }),
  });
  sendJson(exchange, 200, { data: page.items.map(traceToWire), next: page.next ?? null }, NO_STORE);
};

export const getTrace: ConsoleApiHandler = async (exchange, { store }, { id = '' }) => {
  const trace = await store.traces.get(id);
  const { principal } = ownOnly(exchange);
  // Another key's trace is as unknown as one that does not exist.
  if (trace === undefined || (principal !== undefined && trace.principal !== principal)) {
    throw new GatewayError('not_found', 'There is no such trace. It may have been deleted for its age.');
  }
  if (readSwitch(new URLSearchParams(exchange.query), 'download')) sendReplay(exchange, trace);
  else sendJson(exchange, 200, { ...traceToWire(trace), payload: trace.payload ?? null }, NO_STORE);
};

/** The file that `toolgate trace --replay` reads; `trace ID --save` writes the same. */
function sendReplay(exchange: Exchange, trace: Trace & { payload?: JsonObject }): void {
  const { id, payload } = trace;
  if (payload === undefined) {
    throw new GatewayError(
      'not_found',
      'Of this request only the facts were kept, so it cannot be replayed. Under load a sample is recorded whole; with traces.bodies off none is.',
    );
  }
  const name = id.replace(/[^\w.-]/g, '_');
  sendJson(exchange, 200, toReplayFile(trace, payload), {
    ...NO_STORE,
    'content-disposition': `attachment; filename="${name}.trace.json"`,
  });
}

/** `status`: `2xx`, `4xx`, `5xx` or one number; `errors=1`: 400 and more, without 499. */
function readFilter(query: URLSearchParams): Pick<TraceQuery, 'model' | 'session' | 'status'> {
  const model = query.get('model');
  const session = query.get('session');
  const status = readStatus(query.get('status'));
  const range = status ?? (readSwitch(query, 'errors') ? ERRORS : undefined);
  return {
    ...(model === null ? {} : { model }),
    ...(session === null ? {} : { session }),
    ...(range === undefined ? {} : { status: range }),
  };
}

function readStatus(given: string | null): TraceQuery['status'] {
  if (given === null) return undefined;
  const [, digit, whole] = /^(?:([1-5])xx|([1-5]\d\d))$/.exec(given) ?? [];
  if (digit !== undefined) return { from: Number(digit) * 100, to: Number(digit) * 100 + 99 };
  if (whole !== undefined) return { from: Number(whole), to: Number(whole) };
  throw new GatewayError('invalid_request', 'status: expected 2xx, 4xx, 5xx or a status like 429.', {
    param: 'status',
  });
}
