/** Waiting for what may never come: until it settles, its time is over, or it ignores the signal. */
export type Settling<T> = { state: 'settled'; value: T } | { state: 'late' } | { state: 'ignored' };

export interface SettleOptions {
  signal: AbortSignal;
  /** How long it may go on after the signal fired. */
  graceMs: number;
  limitMs?: number;
}

/** Rejects with what `work` rejects with. Work that is given up is left alone; its failure is swallowed. */
export async function settleWithin<T>(work: Promise<T>, options: SettleOptions): Promise<Settling<T>> {
  const { signal, graceMs, limitMs } = options;
  const timers: NodeJS.Timeout[] = [];
  let onAbort = () => {};
  const givenUp = new Promise<Settling<T>>((resolve) => {
    onAbort = () => timers.push(setTimeout(() => resolve({ state: 'ignored' }), graceMs));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    if (limitMs !== undefined) timers.push(setTimeout(() => resolve({ state: 'late' }), limitMs));
  });
  const settled = work.then((value): Settling<T> => ({ state: 'settled', value }));
  settled.catch(() => {});
  try {
    return await Promise.race([settled, givenUp]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    for (const timer of timers) clearTimeout(timer);
  }
}
