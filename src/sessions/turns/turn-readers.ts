/**
 * Who waits for the answer of which turn in this process, from its beginning until the client has
 * the answer or is gone.
 */
export class TurnReaders {
  readonly #waiting = new Map<string, Set<AbortSignal>>();

  /** `signal` fires when the reader is gone. */
  enter(session: string, turn: string, signal: AbortSignal | undefined): void {
    if (signal === undefined || signal.aborted) return;
    const name = nameOf(session, turn);
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(signal));
    const leave = () => {
      waiting.delete(signal);
      if (waiting.size === 0 && this.#waiting.get(name) === waiting) this.#waiting.delete(name);
    };
    signal.addEventListener('abort', leave, { once: true });
  }

  has(session: string, turn: string): boolean {
    return this.#waiting.has(nameOf(session, turn));
  }

  /** The answer is there, or will never be. */
  clear(session: string, turn: string): void {
    this.#waiting.delete(nameOf(session, turn));
  }
}

const nameOf = (session: string, turn: string): string => `${session}\n${turn}`;
