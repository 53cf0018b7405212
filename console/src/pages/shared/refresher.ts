/**
 * Does a piece of work again when it is asked to, one run at a time. Asked often, it still runs: what
 * is asked for while it waits or runs becomes one more run.
 */
export interface Refresher {
  /** A moment from now. */
  soon(): void;
  /** Nothing runs after it; a running fetch is aborted. */
  stop(): void;
}

/** `work` must not reject. The first run begins at once. */
export function startRefresher(work: (signal: AbortSignal) => Promise<void>, settleMs: number): Refresher {
  const ended = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false;
  let asked = false;

  const run = async (): Promise<void> => {
    timer = undefined;
    asked = false;
    running = true;
    await work(ended.signal);
    running = false;
    if (asked) plan();
  };
  const plan = (): void => {
    if (timer === undefined && !ended.signal.aborted) timer = setTimeout(() => void run(), settleMs);
  };
  void run();
  return {
    soon() {
      asked = true;
      if (!running) plan();
    },
    stop() {
      clearTimeout(timer);
      ended.abort();
    },
  };
}
