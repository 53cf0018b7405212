import { describe, expect, it } from 'vitest';
import { retryDelay } from './server-link.js';

const limits = { retryFirstMs: 1000, retryMaxMs: 60_000 };

describe('the pause before the next try', () => {
  it('doubles up to the longest', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 1000].map((failures) => retryDelay(failures, limits, 0))).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000,
    ]);
  });

  it('is spread over its second half, and never shorter than the first', () => {
    expect([0, 0.5, 1].map((random) => retryDelay(4, limits, random))).toEqual([8000, 6000, 4000]);
    expect(retryDelay(1, limits, 1)).toBe(1000);
  });
});
