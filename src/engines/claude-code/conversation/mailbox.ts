/** What happens to a turn, in the order in which it is to be looked at. */
export class Mailbox<T> {
  readonly #items: T[] = [];
  #wake: (() => void) | undefined;

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  get size(): number {
    return this.#items.length;
  }

  /** What nobody will look at any more. */
  remove(isOver: (item: T) => boolean): T[] {
    const removed = this.#items.filter(isOver);
    const kept = this.#items.filter((item) => !removed.includes(item));
    this.#items.splice(0, this.#items.length, ...kept);
    return removed;
  }

  /** Undefined when nothing came within `quietMs`. One reader at a time. */
  async next(quietMs?: number): Promise<T | undefined> {
    if (this.#items.length === 0) await this.#arrival(quietMs);
    return this.#items.shift();
  }

  async #arrival(quietMs: number | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (quietMs !== undefined) timer = setTimeout(resolve, quietMs);
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }
}
