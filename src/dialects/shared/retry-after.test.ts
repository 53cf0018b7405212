import { expect, it } from 'vitest';
import { retryAfterSeconds } from './retry-after.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');

it.each<[Record<string, string>, number | undefined]>([
  [{}, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-1' }, undefined],
  [{ 'retry-after': '12' }, 12],
  [{ 'retry-after': ' 0.5 ' }, 0.5],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  [{ 'retry-after-ms': '250', 'retry-after': '1' }, 0.25],
  [{ 'retry-after-ms': 'x', 'retry-after': '1' }, 1],
])('%j', (headers, seconds) => {
  expect(retryAfterSeconds(headers, NOW)).toBe(seconds);
});
