import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StreamClock, type Ticking } from './sse-writer.js';

function stream() {
  return {
    quietTicks: 0,
    stalledTicks: undefined as number | undefined,
    onQuiet: vi.fn(),
    onStall: vi.fn(),
  } satisfies Ticking;
}

describe('StreamClock', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('pings a stream that was quiet for the whole time, again and again', () => {
    const clock = new StreamClock(15_000, 300_000);
    const quiet = stream();
    const busy = stream();
    clock.add(quiet);
    clock.add(busy);
    for (let second = 0; second < 45; second++) {
      vi.advanceTimersByTime(1000);
      busy.quietTicks = 0;
    }
    expect(quiet.onQuiet).toHaveBeenCalledTimes(3);
    expect(busy.onQuiet).not.toHaveBeenCalled();
  });

  it('gives up a reader that stalls, and does not ping it', () => {
    const clock = new StreamClock(15_000, 60_000);
    const stalled = stream();
    stalled.stalledTicks = 0;
    clock.add(stalled);
    vi.advanceTimersByTime(59_000);
    expect(stalled.onStall).not.toHaveBeenCalled();
    vi.advanceTimersByTime(30_000);
    expect(stalled.onStall).toHaveBeenCalledTimes(1);
    expect(stalled.onQuiet).not.toHaveBeenCalled();
  });

  it('has a timer only while there are streams', () => {
    const clock = new StreamClock(15_000, 60_000);
    const one = stream();
    expect(vi.getTimerCount()).toBe(0);
    clock.add(one);
    expect(vi.getTimerCount()).toBe(1);
    clock.delete(one);
    expect(vi.getTimerCount()).toBe(0);
  });
});
