/** Ticks for what counts up or down. All that tick at the same pace share one timer. */
import { useSyncExternalStore } from 'react';
import { useConsole } from '../data/store.js';

const EVERY_MS = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** The gateway's clock, by the second; stands still while `active` is false. */
export function useGatewayClock(active: boolean): number {
  const skew = useConsole((state) => state.skewMs);
  const own = useSyncExternalStore(active ? watch : standStill, read);
  return own + skew;
}

const standStill = () => () => {};
const read = (): number => now;

function watch(listener: () => void): () => void {
  if (listeners.size === 0) now = Date.now();
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, EVERY_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
