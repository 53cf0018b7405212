import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { histogramOf, merge, percentile } from './histogram.js';

/** Milliseconds from nothing to some weeks, short ones as often as long ones. */
const latency = fc
  .tuple(fc.nat({ max: 30 }), fc.double({ min: 1, max: 2, noNaN: true }))
  .map(([power, part]) => Math.floor(2 ** power * part) - 1);
const latencies = fc.array(latency, { minLength: 1, maxLength: 300 });

/** The smallest value that at least so many percent are not above. */
function exact(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? Number.NaN;
}

describe('a histogram', () => {
  it('keeps five binary digits of a value', () => {
    expect(histogramOf([1000, 0, 31, 32, 33, 34, 33, 63, 64, 67, 68, 1055])).toEqual([
      [0, 1],
      [31, 1],
      [32, 3],
      [34, 1],
      [62, 1],
      [64, 2],
      [68, 1],
      [992, 1],
      [1024, 1],
    ]);
    expect(histogramOf([])).toEqual([]);
  });

  it('is short, whatever was counted', () => {
    const everything = Array.from({ length: 600_000 }, (_, value) => value);
    expect(histogramOf(everything)).toHaveLength(259);
  });

  it('is the same whether values are counted together or apart', () => {
    fc.assert(
      fc.property(fc.array(latencies, { maxLength: 5 }), (parts) => {
        expect(merge(parts.map(histogramOf))).toEqual(histogramOf(parts.flat()));
      }),
    );
  });
});

describe('a percentile', () => {
  it('is the value at its rank', () => {
    const twenty = histogramOf(Array.from({ length: 20 }, (_, index) => index + 1));
    expect([50, 95, 96, 100].map((percent) => percentile(twenty, percent, 20))).toEqual([10, 19, 20, 20]);
    expect(percentile(histogramOf([7]), 50, 7)).toBe(7);
  });

  it('is at most 3.2 % off', () => {
    fc.assert(
      fc.property(latencies, fc.integer({ min: 1, max: 100 }), (values, percent) => {
        const truth = exact(values, percent);
        const found = percentile(histogramOf(values), percent, Math.max(...values)) ?? Number.NaN;
        expect(Math.abs(found - truth)).toBeLessThanOrEqual(truth * 0.032);
      }),
    );
  });

  it('is never above the largest value', () => {
    expect(percentile(histogramOf([1024, 1025]), 95, 1025)).toBe(1025);
  });

  it('is unknown where nothing was counted', () => {
    expect(percentile([], 50, 0)).toBeUndefined();
  });
});
