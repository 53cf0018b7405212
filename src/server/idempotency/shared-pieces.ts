/**
 * One source with several readers, each from its first piece. It is pulled by whoever is ahead, so
 * that it never runs faster than its fastest reader.
 */
export interface SharedPiecesOptions<T> {
  source: AsyncIterator<T>;
  /** Of one piece, in any unit. */
  sizeOf(piece: T): number;
  /** Beyond this much, what everyone has read is let go, and nobody can join any more. */
  limit: number;
}

interface Position {
  at: number;
  left: boolean;
}

export class SharedPieces<T> {
  readonly #options: SharedPiecesOptions<T>;
  readonly #readers = new Set<Position>();
  #pieces: T[] = [];
  /** Pieces that were let go. */
  #gone = 0;
  #size = 0;
  #pulling: Promise<void> | undefined;
  #end: { error?: unknown } | undefined;

  constructor(options: SharedPiecesOptions<T>) {
    this.#options = options;
  }

  /** Everything from the first piece on is still there. */
  get joinable(): boolean {
    return this.#size <= this.#options.limit;
  }

  /** `onLeave` exactly once: at the end, with an error, or when the reader is returned. */
  read(onLeave: () => void): AsyncIterable<T> & AsyncIterator<T> {
    const position: Position = { at: this.#gone, left: false };
    this.#readers.add(position);
    const leave = (): void => {
      if (position.left) return;
      position.left = true;
      this.#readers.delete(position);
      onLeave();
    };
    const reader = {
      next: () => this.#next(position, leave),
      return: async (): Promise<IteratorResult<T>> => {
        leave();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => reader,
    };
    return reader;
  }

  async #next(position: Position, leave: () => void): Promise<IteratorResult<T>> {
    for (;;) {
      if (position.left) return { done: true, value: undefined };
      const piece = this.#pieces[position.at - this.#gone];
      if (piece !== undefined) {
        position.at += 1;
        this.#letGo();
        return { done: false, value: piece };
      }
      if (this.#end !== undefined) {
        leave();
        if ('error' in this.#end) throw this.#end.error;
        return { done: true, value: undefined };
      }
      this.#pulling ??= this.#pull();
      await this.#pulling;
    }
  }

  async #pull(): Promise<void> {
    try {
      const step = await this.#options.source.next();
      if (step.done === true) this.#end = {};
      else {
        this.#pieces.push(step.value);
        this.#size += this.#options.sizeOf(step.value);
      }
    } catch (error) {
      this.#end = { error };
    } finally {
      this.#pulling = undefined;
    }
  }

  #letGo(): void {
    if (this.joinable) return;
    const read = Math.min(...[...this.#readers].map(({ at }) => at));
    this.#pieces = this.#pieces.slice(read - this.#gone);
    this.#gone = read;
  }
}
