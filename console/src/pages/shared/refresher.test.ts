import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startRefresher } from './refresher.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the refresher', () => {
  it('begins at once, and runs on under a constant stream of changes', async () => {
    let runs = 0;
    const refresher = startRefresher(async () => {
      runs += 1;
    }, 100);
    expect(runs).toBe(1);
    for (let change = 0; change < 100; change++) {
      refresher.soon();
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(runs).toBeGreaterThan(8);
    expect(runs).toBeLessThan(13);
  });

  it('runs one at a time, and once more for what changed meanwhile', async () => {
    const finish: (() => void)[] = [];
    const refresher = startRefresher(
      () =>
        new Promise<void>((done) => {
          finish.push(done);
        }),
      100,
    );
    for (let change = 0; change < 5; change++) refresher.soon();
    await vi.advanceTimersByTimeAsync(1000);
    expect(finish).toHaveLength(1);
    finish[0]?.();
    await vi.advanceTimersByTimeAsync(1000);
    expect(finish).toHaveLength(2);
    finish[1]?.();
    await vi.advanceTimersByTimeAsync(1000);
    expect(finish).toHaveLength(2);
  });

  it('stops, and aborts what runs', async () => {
    let told: AbortSignal | undefined;
    const refresher = startRefresher(async (signal) => {
      told = signal;
    }, 100);
    await vi.advanceTimersByTimeAsync(0);
    refresher.soon();
    refresher.stop();
    refresher.soon();
    await vi.advanceTimersByTimeAsync(1000);
    expect(told?.aborted).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});
