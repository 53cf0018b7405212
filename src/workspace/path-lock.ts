/**
 * One writer at a time for each real path, over all sessions of the process. What other programs
 * write is found by comparing versions, not by locks.
 */
const tails = new Map<string, Promise<void>>();

/** Runs `work` when everybody who asked for `key` before is done, whether they failed or not. */
export async function withPathLock<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = tails.get(key);
  const { promise, resolve: release } = deferred();
  tails.set(key, promise);
  try {
    await before;
    return await work();
  } finally {
    if (tails.get(key) === promise) tails.delete(key);
    release();
  }
}

/** How many paths are locked or waited for. */
export function lockedPaths(): number {
  return tails.size;
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
