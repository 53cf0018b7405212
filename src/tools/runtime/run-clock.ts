import { onAbort } from '../../core/stopping.js';

/** How long a call has run, with the time that it waited for a person left out. */
export interface RunClock {
  /** Milliseconds of running so far. */
  elapsed(): number;
  /** Several at once stop it once: it goes on when each has been resumed. */
  pause(): void;
  resume(): void;
  stop(): void;
}

/** Node treats a longer one as none at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** `onOver` is called once, when `limitMs` of running are over. */
export function startRunClock(limitMs: number | undefined, onOver: () => void): RunClock {
  let ranBefore = 0;
  let since: number | undefined = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let pauses = 0;
  let stopped = false;

  const elapsed = (): number => ranBefore + (since === undefined ? 0 : performance.now() - since);

  const arm = (): void => {
    if (limitMs === undefined || stopped || limitMs > LONGEST_TIMER_MS) return;
    timer = setTimeout(
      () => {
        stopped = true;
        onOver();
      },
      Math.max(0, limitMs - ranBefore),
    );
  };

  const pause = (): void => {
    pauses += 1;
    if (pauses > 1) return;
    ranBefore = elapsed();
    since = undefined;
    clearTimeout(timer);
  };

  const resume = (): void => {
    pauses -= 1;
    if (pauses > 0) return;
    if (stopped) return;
    since = performance.now();
    arm();
  };

  arm();
  return {
    elapsed,
    pause,
    resume,
    stop() {
      stopped = true;
      ranBefore = elapsed();
      since = undefined;
      clearTimeout(timer);
    },
  };
}

/** What became of something that may never settle, or ignore the signal. */
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
