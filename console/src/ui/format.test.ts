import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatDuration,
  formatRelative,
  formatTime,
  formatTokens,
  formatUsd,
} from './format.js';

describe('numbers for people', () => {
  it.each([
    [0, '0'],
    [9999, '9,999'],
    [12_345, '12.3K'],
    [1_250_000, '1.3M'],
  ])('tokens: %d is %s', (value, shown) => expect(formatTokens(value)).toBe(shown));

  it.each([
    [null, '–'],
    [0, '$0.00'],
    [0.00421, '$0.0042'],
    [0.5, '$0.50'],
    [12.345, '$12.35'],
  ])('dollars: %s is %s; what has no price is not free', (value, shown) =>
    expect(formatUsd(value)).toBe(shown),
  );

  it.each([
    [0, '0 ms'],
    [850, '850 ms'],
    [999.6, '1,000 ms'],
    [12_340, '12.3 sec'],
    [59_960, '1 min'],
    [245_000, '4 min 5 sec'],
    [7_380_000, '2 hr 3 min'],
    [273_600_000, '3 days 4 hr'],
    [-5, '0 ms'],
  ])('durations: %d is %s', (value, shown) => expect(formatDuration(value)).toBe(shown));

  it.each([
    [0, '0 byte'],
    [999, '999 byte'],
    [1500, '1.5 kB'],
    [23_456_789, '23 MB'],
  ])('sizes: %d is %s', (value, shown) => expect(formatBytes(value)).toBe(shown));

  it('says how long ago, and what is no time as it is', () => {
    const now = Date.parse('2026-01-02T12:00:00Z');
    expect(formatRelative('2026-01-02T11:55:00Z', now)).toBe('5 min. ago');
    expect(formatRelative('2026-01-02T14:00:00Z', now)).toBe('in 2 hr.');
    expect(formatRelative(now, now)).toBe('now');
    expect(formatRelative('soon', now)).toBe('soon');
    expect(formatTime('soon')).toBe('soon');
  });
});
