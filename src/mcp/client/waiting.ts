/** Waiting that a signal ends. */

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** `work`, or a rejection as soon as the signal fires. */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('given up'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
