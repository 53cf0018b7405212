/** Sums of what was used, for charts. Everyone sees their own key's, an administrator all of them. */
import { type Histogram, percentile } from '../../core/histogram.js';
import type { UsageDimension, UsageSum } from '../../store/usage.js';
import { readInteger, readList, readSwitch, readTime } from '../http/read-request.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import type { ConsoleApiHandler } from './context.js';
import { ownOnly } from './traces.js';
import type { UsageRowWire, UsageWire } from './wire/usage.js';

const DAY_MS = 24 * 3600 * 1000;
/** `key` is the principal's name on this wire, as in traces. */
const DIMENSIONS: Readonly<Record<string, UsageDimension>> = {
  model: 'model',
  key: 'principal',
  upstream: 'upstream',
  session: 'session',
  day: 'day',
  hour: 'hour',
};
/** `bucket=day` is `by=day` beside whatever `by` says. */
const BUCKETS = ['day', 'hour'] as const;

export const showUsage: ConsoleApiHandler = async (exchange, { store }) => {
  const query = new URLSearchParams(exchange.query);
  const to = readTime(query, 'to', Date.now() + 1);
  const from = readTime(query, 'from', to - 30 * DAY_MS);
  const names = readList(query, 'by', Object.keys(DIMENSIONS), ['model']);
  const session = query.get('session');
  const histograms = readSwitch(query, 'histograms');
  const [bucket] = readList(query, 'bucket', BUCKETS, []);
  const by = bucket === undefined || names.includes(bucket) ? names : [bucket, ...names];
  const sums = await store.usage.summarise({
    from,
    to,
    by: by.flatMap((name) => DIMENSIONS[name] ?? []),
    ...ownOnly(exchange),
    ...(session === null ? {} : { session }),
    histograms: true,
    utcOffsetMinutes: readInteger(query, 'utc_offset_minutes', { default: 0, min: -840, max: 840 }),
  });
  const answer: UsageWire = {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    data: sums.map((sum) => ({ ...toWire(sum), ...(histograms && histogramsOf(sum)) })),
  };
  sendJson(exchange, 200, answer, NO_STORE);
};

function toWire(sum: UsageSum): UsageRowWire {
  const { principal, ...group } = sum.group;
  // A first token never comes after the last one, so the longest answer is a bound for both.
  const at = (percent: number, histogram: Histogram): number | null =>
    percentile(histogram, percent, sum.maxLatencyMs) ?? null;
  return {
    ...group,
    ...(principal === undefined ? {} : { key: principal }),
    requests: sum.requests,
    errors: sum.errors,
    input_tokens: sum.inputTokens,
    output_tokens: sum.outputTokens,
    cache_read_tokens: sum.cacheReadTokens,
    cache_write_tokens: sum.cacheWriteTokens,
    reasoning_tokens: sum.reasoningTokens,
    cost_usd: sum.costUsd,
    unpriced_requests: sum.unpriced,
    mean_latency_ms: sum.meanLatencyMs,
    p50_latency_ms: at(50, sum.latencies),
    p95_latency_ms: at(95, sum.latencies),
    max_latency_ms: sum.maxLatencyMs,
    mean_first_token_ms: sum.meanFirstTokenMs ?? null,
    p50_first_token_ms: at(50, sum.firstTokens),
    p95_first_token_ms: at(95, sum.firstTokens),
  };
}

function histogramsOf({ latencies, firstTokens }: UsageSum): Partial<UsageRowWire> {
  return { latency_histogram: latencies, first_token_histogram: firstTokens };
}
