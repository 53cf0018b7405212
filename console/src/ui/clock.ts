/** Ticks for what counts up or down. All that tick at the same pace share one timer. */
import { useSyncExternalStore } from 'react';

/**
 * A hook that gives the time, anew every so many milliseconds while `active`. What is not active is not
 * drawn for it; drawn for another reason, it gets the time of the last tick, whoever that was for.
 */
export function clockEvery(everyMs: number): (active: boolean) => number {
  const listeners = new Set<() => void>();
  let now = Date.now();
  let timer: ReturnType<typeof setInterval> | undefined;
  const watch = (listener: () => void): (() => void) => {
    // What has just appeared may be younger than the last tick.
    now = Date.now();
    listeners.add(listener);
    timer ??= setInterval(() => {
      now = Date.now();
      for (const each of listeners) each();
    }, everyMs);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };
  const read = (): number => now;
  return (active) => useSyncExternalStore(active ? watch : standStill, read);
}

const standStill = () => () => {};
