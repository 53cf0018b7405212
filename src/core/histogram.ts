/**
 * How often each value occurred, for percentiles of what was counted apart: percentiles cannot be
 * added up, counts can. Values are rounded down to five binary digits, so that a histogram is short
 * (259 entries at most for ten minutes in milliseconds) and a percentile is at most 3.2 % off.
 */

/** Values that are rounded down, the smallest first, each with how often it occurred. */
export type Histogram = readonly (readonly [value: number, count: number])[];

/** Numbers below this have at most five binary digits. */
const EXACT_BELOW = 32;

export function histogramOf(values: readonly number[]): Histogram {
  // An array of numbers alone sorts twice as fast.
  const sorted = new Float64Array(values.map(roundDown)).sort();
  const histogram: [number, number][] = [];
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    const value = sorted[from] ?? 0;
    while (sorted[to] === value) to++;
    histogram.push([value, to - from]);
  }
  return histogram;
}

/** Of all that was counted in any of them. */
export function merge(histograms: readonly Histogram[]): Histogram {
  const [first = [], second] = histograms;
  if (second === undefined) return first;
  const counts = new Map<number, number>();
  for (const [value, count] of histograms.flat()) counts.set(value, (counts.get(value) ?? 0) + count);
  return [...counts].sort(([a], [b]) => a - b);
}

/**
 * What at least so many percent of the values are not above: 50 is the median. `most` is what no
 * value was above. Undefined where nothing was counted.
 */
export function percentile(histogram: Histogram, percent: number, most: number): number | undefined {
  const total = histogram.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.ceil((total * percent) / 100);
  for (const [value, count] of histogram) {
    left -= count;
    if (left <= 0) return Math.min(most, value + Math.floor(stepAt(value) / 2));
  }
  return undefined;
}

function roundDown(value: number): number {
  const step = stepAt(value);
  return Math.floor(value / step) * step;
}

/** How far apart rounded values are around this one. */
function stepAt(value: number): number {
  let step = 1;
  while (value >= EXACT_BELOW * step) step *= 2;
  return step;
}
