import { describe, expect, it } from 'vitest';
import { histogramOf, percentile } from '../../../../src/core/histogram.js';
import type { UsageRowWire } from '../../../../src/server/console-api/wire/usage.js';
import { bucketsOf, groupRows, linesBy, totalsOf, usageCsv } from './figures.js';
import { durationScale, labelledIndexes, linePath, niceScale, stack } from './scale.js';

const row = (more: Partial<UsageRowWire>): UsageRowWire => ({
  requests: 1,
  errors: 0,
  input_tokens: 10,
  output_tokens: 5,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: 0.5,
  unpriced_requests: 0,
  mean_latency_ms: 100,
  max_latency_ms: 100,
  mean_first_token_ms: null,
  p50_latency_ms: 100,
  p95_latency_ms: 100,
  p50_first_token_ms: null,
  p95_first_token_ms: null,
  latency_histogram: [[100, 1]],
  first_token_histogram: [],
  ...more,
});

/** As the gateway sums up requests that took so long. */
const taking = (latencies: readonly number[], firstTokens: readonly number[] = []): UsageRowWire =>
  row({
    requests: latencies.length,
    max_latency_ms: Math.max(...latencies),
    latency_histogram: histogramOf(latencies),
    first_token_histogram: histogramOf(firstTokens),
  });

describe('usage totals', () => {
  it('have the percentiles of all requests together', () => {
    const fast = Array.from({ length: 90 }, (_, index) => 200 + index);
    const slow = Array.from({ length: 30 }, (_, index) => 9000 + 10 * index);
    const totals = totalsOf([taking(fast, [50, 60]), taking(slow, [70])]);
    const together = histogramOf([...fast, ...slow]);
    expect(totals).toMatchObject({
      requests: 120,
      medianLatencyMs: percentile(together, 50, 9290),
      p95LatencyMs: percentile(together, 95, 9290),
      maxLatencyMs: 9290,
      // 60 and 61 are counted as one.
      medianFirstTokenMs: 61,
    });
    // Far from what the mean of the two medians would be.
    expect(totals.medianLatencyMs).toBeLessThan(300);
    expect(totals.p95LatencyMs).toBeGreaterThan(9000);
  });

  it('do not have a percentile above the longest', () => {
    expect(totalsOf([taking([1024]), taking([1025])])).toMatchObject({
      medianLatencyMs: 1025,
      p95LatencyMs: 1025,
      maxLatencyMs: 1025,
    });
  });

  it('know no times of what did not happen', () => {
    const unknown = { medianLatencyMs: undefined, p95LatencyMs: undefined, maxLatencyMs: undefined };
    expect(totalsOf([])).toMatchObject({ ...unknown, medianFirstTokenMs: undefined });
    expect(totalsOf([taking([100])]).medianFirstTokenMs).toBeUndefined();
  });

  it('do not take an unknown price for nothing', () => {
    expect(totalsOf([row({ cost_usd: null, unpriced_requests: 1 })]).costUsd).toBeUndefined();
    expect(totalsOf([row({ cost_usd: null, unpriced_requests: 1 }), row({})])).toMatchObject({
      costUsd: 0.5,
      unpriced: 1,
    });
    expect(totalsOf([]).costUsd).toBe(0);
  });
});

describe('the time range of usage', () => {
  it('is whole local days and hours, up to now', () => {
    const now = new Date('2026-02-28T16:30:00Z');
    expect(bucketsOf('7d', now, 480).map(({ key }) => key)).toEqual([
      '2026-02-23',
      '2026-02-24',
      '2026-02-25',
      '2026-02-26',
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
    ]);
    const hours = bucketsOf('24h', now, 480).map(({ key }) => key);
    expect(bucketsOf('24h', now, 480).at(-1)?.begins.toISOString()).toBe('2026-02-28T16:00:00.000Z');
    expect([hours[0], hours.at(-1), hours.length]).toEqual(['2026-02-28T01', '2026-03-01T00', 24]);
  });
});

describe('usage series', () => {
  const buckets = bucketsOf('7d', new Date('2026-03-01T12:00:00Z'), 0);
  it('are the most used, and the others together', () => {
    const rows = Array.from({ length: 9 }, (_, index) =>
      row({ model: `m${index}`, day: '2026-03-01', requests: 10 - index }),
    );
    const lines = linesBy(rows, buckets, 'model', 'others');
    const requests = lines.map(({ totals }) => totals.map((each) => each.requests));
    expect(lines.map(({ name }) => name)).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'others']);
    expect(requests.map((values) => values.at(-1))).toEqual([10, 9, 8, 7, 6, 5 + 4 + 3 + 2]);
    expect(requests[0]?.slice(0, 6)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(groupRows(rows, 'model')[0]?.name).toBe('m0');
  });
});

describe('the table for a spreadsheet', () => {
  it('has the percentiles of each row', () => {
    const times = { p50_latency_ms: 61, p95_latency_ms: 62, p50_first_token_ms: 63, p95_first_token_ms: 64 };
    const [head = '', line = ''] = usageCsv([row(times)]).split('\r\n');
    const cells = new Map(head.split(',').map((name, index) => [name, line.split(',')[index]]));
    for (const [name, value] of Object.entries(times)) expect(cells.get(name), name).toBe(String(value));
    expect(cells.get('mean_latency_ms')).toBe('100');
    expect(head).not.toContain('histogram');
  });

  it('keeps names from being formulas or further cells, and an unknown cost empty', () => {
    const text = usageCsv([
      row({ day: '2026-03-01', model: '=HYPERLINK("x")', key: 'a,b', cost_usd: null, unpriced_requests: 1 }),
    ]);
    const [, line] = text.split('\r\n');
    expect(line).toBe(`2026-03-01,"'=HYPERLINK(""x"")","a,b",1,0,10,5,0,0,0,,1,100,100,,100,100,,`);
  });
});

describe('a usage chart', () => {
  it('has round numbers at its side', () => {
    expect(niceScale(87)).toEqual({ max: 100, ticks: [0, 25, 50, 75, 100] });
    expect(niceScale(0.3).ticks).toEqual([0, 0.1, 0.2, 0.3]);
    expect(niceScale(1, { whole: true }).ticks).toEqual([0, 1]);
    expect(niceScale(9, { whole: true }).ticks).toEqual([0, 3, 6, 9]);
    expect(niceScale(0)).toEqual({ max: 1, ticks: [0, 1] });
    expect(niceScale(Number.NaN)).toEqual({ max: 1, ticks: [0, 1] });
  });

  it('has round times at its side, from a minute on in whole minutes, hours or days', () => {
    expect(durationScale(450).ticks).toEqual([0, 200, 400, 600]);
    expect(durationScale(45_000).ticks).toEqual([0, 20_000, 40_000, 60_000]);
    expect(durationScale(98_000)).toEqual({ max: 120_000, ticks: [0, 60_000, 120_000] });
    expect(durationScale(5.7 * 60_000).ticks.map((tick) => tick / 60_000)).toEqual([0, 2, 4, 6]);
    expect(durationScale(90 * 60_000).ticks.map((tick) => tick / 3_600_000)).toEqual([0, 1, 2]);
  });

  it('writes as many labels as there is room for', () => {
    expect([...labelledIndexes(7, 700, 50)]).toHaveLength(7);
    expect([...labelledIndexes(30, 300, 50)]).toEqual([4, 9, 14, 19, 24, 29]);
  });

  it('stacks bars and breaks lines', () => {
    expect(stack([1, undefined, 2])).toEqual([
      [0, 1],
      [1, 1],
      [1, 3],
    ]);
    expect(linePath([{ x: 0, y: 1 }, undefined, { x: 2, y: 3 }, { x: 4, y: 5 }])).toBe(
      'M0.0 1.0M2.0 3.0L4.0 5.0',
    );
  });
});
