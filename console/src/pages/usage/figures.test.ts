import { describe, expect, it } from 'vitest';
import { bucketsOf, groupRows, seriesBy, totalsOf, type UsageRow, usageCsv } from './figures.js';
import { labelledIndexes, linePath, niceScale, stack } from './scale.js';

const row = (more: Partial<UsageRow>): UsageRow => ({
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
  ...more,
});

describe('totals', () => {
  it('weigh the latency by requests and take the longest', () => {
    const totals = totalsOf([
      row({ requests: 3, mean_latency_ms: 100, max_latency_ms: 200 }),
      row({ requests: 1, mean_latency_ms: 500, max_latency_ms: 900 }),
    ]);
    expect(totals).toMatchObject({ requests: 4, meanLatencyMs: 200, maxLatencyMs: 900, costUsd: 1 });
  });

  it('do not take an unknown price for nothing', () => {
    expect(totalsOf([row({ cost_usd: 0, unpriced_requests: 1 })]).costUsd).toBeUndefined();
    expect(totalsOf([row({ cost_usd: 0, unpriced_requests: 1 }), row({})])).toMatchObject({
      costUsd: 0.5,
      unpriced: 1,
    });
    expect(totalsOf([])).toMatchObject({ costUsd: 0, meanLatencyMs: undefined });
  });
});

describe('time', () => {
  it('is whole days and hours of this place, up to now', () => {
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

describe('series', () => {
  const buckets = bucketsOf('7d', new Date('2026-03-01T12:00:00Z'), 0);
  it('are the most used, and the others together', () => {
    const rows = Array.from({ length: 9 }, (_, index) =>
      row({ model: `m${index}`, day: '2026-03-01', requests: 10 - index }),
    );
    const series = seriesBy(rows, buckets, 'model', 'others', ({ requests }) => requests);
    expect(series.map(({ name }) => name)).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'others']);
    expect(series.map(({ values }) => values.at(-1))).toEqual([10, 9, 8, 7, 6, 5 + 4 + 3 + 2]);
    expect(series[0]?.values.slice(0, 6)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(groupRows(rows, 'model')[0]?.name).toBe('m0');
  });
});

describe('the table for a spreadsheet', () => {
  it('keeps names from being formulas or further cells, and an unknown cost empty', () => {
    const text = usageCsv([
      row({ day: '2026-03-01', model: '=HYPERLINK("x")', key: 'a,b', cost_usd: 0, unpriced_requests: 1 }),
    ]);
    const [, line] = text.split('\r\n');
    expect(line).toBe(`2026-03-01,"'=HYPERLINK(""x"")","a,b",1,0,10,5,0,0,0,,1,100,100,`);
  });
});

describe('a chart', () => {
  it('has round numbers at its side', () => {
    expect(niceScale(87)).toEqual({ max: 100, ticks: [0, 25, 50, 75, 100] });
    expect(niceScale(0.3).ticks).toEqual([0, 0.1, 0.2, 0.3]);
    expect(niceScale(1, { whole: true }).ticks).toEqual([0, 1]);
    expect(niceScale(9, { whole: true }).ticks).toEqual([0, 3, 6, 9]);
    expect(niceScale(0)).toEqual({ max: 1, ticks: [0, 1] });
    expect(niceScale(Number.NaN)).toEqual({ max: 1, ticks: [0, 1] });
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
