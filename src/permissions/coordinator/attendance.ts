/** Who is there to answer. Presence is counted; a look at the list counts for a while. */

/** Whoever polls does so well within this. */
export const SEEN_MS = 60_000;

/** Present for everyone: an administrator, or whoever sits at the terminal. */
const EVERYONE = Symbol('everyone');

type Whose = string | typeof EVERYONE;

export class Attendance {
  readonly #present = new Map<Whose, number>();
  readonly #seenAt = new Map<Whose, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Until the returned function is called; calling it again does nothing. */
  attend(principal: string | undefined): () => void {
    const whose = principal ?? EVERYONE;
    this.#present.set(whose, (this.#present.get(whose) ?? 0) + 1);
    let here = true;
    return () => {
      if (!here) return;
      here = false;
      const left = (this.#present.get(whose) ?? 0) - 1;
      if (left > 0) this.#present.set(whose, left);
      else this.#present.delete(whose);
    };
  }

  seen(principal: string | undefined): void {
    this.#seenAt.set(principal ?? EVERYONE, this.#now());
  }

  someoneFor(principal: string): boolean {
    return this.#isThere(principal) || this.#isThere(EVERYONE);
  }

  #isThere(whose: Whose): boolean {
    if (this.#present.has(whose)) return true;
    const at = this.#seenAt.get(whose);
    return at !== undefined && this.#now() - at < SEEN_MS;
  }
}
