import { describe, expect, it } from 'vitest';
import { RateLimit } from './rate-limit.js';

describe('RateWindow', () => {
  it('lets the limit through in any 60 seconds and says how long to wait', () => {
    const window = new RateLimit(3);
    expect([0, 10_000, 20_000].map((now) => window.take(now))).toEqual([undefined, undefined, undefined]);
    expect(window.take(20_001)).toBe(40);
    expect(window.take(59_999)).toBe(1);
    expect(window.take(60_000)).toBeUndefined();
    expect(window.take(60_001)).toBe(10);
    expect(window.take(70_000)).toBeUndefined();
  });

  it('does not count what it refuses', () => {
    const window = new RateLimit(1);
    window.take(0);
    for (let now = 1; now < 60_000; now += 1000) window.take(now);
    expect(window.take(60_000)).toBeUndefined();
  });

  it('holds for limits larger than its first ring', () => {
    const window = new RateLimit(1000);
    for (let index = 0; index < 1000; index++) expect(window.take(index)).toBeUndefined();
    expect(window.take(1000)).toBe(59);
    expect(window.take(60_000)).toBeUndefined();
    expect(window.take(60_000)).toBe(1);
  });
});
