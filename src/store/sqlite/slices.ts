/** Long work, with turns of the event loop in between, that can be ended from outside. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longer than this nothing else waits, where no single step takes longer. */
const SLICE_MS = 8;

export class Slices {
  readonly #signal: AbortSignal | undefined;
  #end = performance.now() + SLICE_MS;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Before each step. Rejects with the reason of the signal. */
  async next(): Promise<void> {
    this.#signal?.throwIfAborted();
    if (performance.now() < this.#end) return;
    await nextTurn();
    this.#signal?.throwIfAborted();
    this.#end = performance.now() + SLICE_MS;
  }
}
