/** A promise with its handles, until every supported Node has `Promise.withResolvers`. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((onValue, onReason) => {
    resolve = onValue;
    reject = onReason;
  });
  return { promise, resolve, reject };
}

/** A point where something waits until the test says go. The alternative to sleeping. */
export class Gate {
  readonly #opened = deferred();
  readonly #reached = deferred();

  /** Resolves when something has come to the gate: all that stands before it has been done. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  open(): void {
    this.#opened.resolve();
  }

  /** For whoever is held here. */
  pass(): Promise<void> {
    this.#reached.resolve();
    return this.#opened.promise;
  }
}

export const gate = (): Gate => new Gate();

/**
 * Lets the event loop go round, so that what has been written to a loopback socket is read by the
 * other side where that side lives in this process.
 */
export async function turnOfLoop(rounds = 2): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise<void>((done) => setImmediate(done));
}
