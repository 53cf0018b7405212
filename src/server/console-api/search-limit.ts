/** Searches that run now: a page that asks again with every word has two of them, and no more. */
import { GatewayError } from '../../core/errors.js';

const MOST_OF_A_KEY = 2;

export class SearchLimit {
  readonly #running = new Map<string, number>();

  /** Rejects where the key has as many as it may. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const others = this.#running.get(key) ?? 0;
    if (others >= MOST_OF_A_KEY) {
      throw new GatewayError(
        'rate_limited',
        `${MOST_OF_A_KEY} searches of this key run already. Try again when one of them has ended.`,
        { retryable: true, retryAfter: 1, param: 'search' },
      );
    }
    this.#running.set(key, others + 1);
    try {
      return await work();
    } finally {
      const left = (this.#running.get(key) ?? 1) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
    }
  }
}
