/** One at a time for each name, in the order of asking. */
export class Mutex {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(name);
    const mine = before === undefined ? work() : before.then(work, work);
    const tail = mine.catch(() => undefined);
    this.#tails.set(name, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(name) === tail) this.#tails.delete(name);
    }
  }
}
