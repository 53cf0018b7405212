/** What was opened, closed in reverse. The same as `AsyncDisposableStack`, which is newer than the oldest Node.js that is supported. */
export class CloseStack {
  readonly #closers: (() => unknown)[] = [];

  /** Calls `close` with `part` when the stack is closed. */
  adopt<T>(part: T, close: (part: T) => unknown): T {
    this.#closers.push(() => close(part));
    return part;
  }

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** One after the other, all of them: what one throws is thrown when the last is closed. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0).toReversed()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 1) throw new AggregateError(failures, 'Several parts could not be closed.');
    if (failures.length === 1) throw failures[0];
  }
}

/** Where `open` throws, what it had opened by then is closed, and its error is thrown. */
export async function openAll<T>(open: (stack: CloseStack) => Promise<T>): Promise<T> {
  const stack = new CloseStack();
  try {
    return await open(stack);
  } catch (error) {
    await stack.close().catch(() => {});
    throw error;
  }
}
