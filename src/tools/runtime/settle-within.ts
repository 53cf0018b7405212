/** Waiting for what may never come: until it settles, its time is over, or it ignores the signal. */
import { onAbort } from '../../core/stopping.js';

type Settling<T> = { state: 'settled'; value: T } | { state: 'late' } | { state: 'ignored' };

interface SettleOptions {
  signal: AbortSignal;
  /** How long it may go on after the signal fired. */
  graceMs: number;
  limitMs?: number;
}

/** Rejects with what `work` rejects with. Work that is given up is left alone; its failure is swallowed. */
export async function settleWithin<T>(work: Promise<T>, options: SettleOptions): Promise<Settling<T>> {
  const { signal, graceMs, limitMs } = options;
  const timers: NodeJS.Timeout[] = [];
  let release = () => {};
  const givenUp = new Promise<Settling<T>>((resolve) => {
    release = onAbort(signal, () => {
      timers.push(setTimeout(() => resolve({ state: 'ignored' }), graceMs));
    });
    if (limitMs !== undefined) timers.push(setTimeout(() => resolve({ state: 'late' }), limitMs));
  });
  const settled = work.then((value): Settling<T> => ({ state: 'settled', value }));
  settled.catch(() => {});
  try {
    return await Promise.race([settled, givenUp]);
  } finally {
    release();
    for (const timer of timers) clearTimeout(timer);
  }
}
