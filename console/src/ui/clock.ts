/** Ticks for what counts up or down. All that tick at the same pace share one timer. */
import { useSyncExternalStore } from 'react';

/**
 * A hook that returns the time and updates every `everyMs` while `active`. An inactive component does
 * not render for it; when it renders for another reason, it gets the time of the last tick of any.
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
