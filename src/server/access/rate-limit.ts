const WINDOW_MS = 60_000;

/** At most `limit` requests in any 60 seconds: a ring of the times of the last ones. */
export class RateLimit {
  readonly #limit: number;
  #times: Float64Array;
  /** Where the oldest time stands once the ring is full. */
  #next = 0;
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#times = new Float64Array(Math.min(limit, 64));
  }

  /** Undefined when the request may go on, else the seconds until one may. `now` in milliseconds. */
  take(now: number): number | undefined {
    if (this.#count === this.#limit) {
      const oldest = this.#times[this.#next] ?? 0;
      const wait = oldest + WINDOW_MS - now;
      if (wait > 0) return Math.max(1, Math.ceil(wait / 1000));
    } else {
      if (this.#count === this.#times.length) this.#grow();
      this.#count += 1;
    }
    this.#times[this.#next] = now;
    this.#next = (this.#next + 1) % this.#limit;
    return undefined;
  }

  /** The request that was taken last was refused by somebody else. */
  giveBack(): void {
    this.#next = (this.#next - 1 + this.#limit) % this.#limit;
    this.#times[this.#next] = Number.NEGATIVE_INFINITY;
    if (this.#count < this.#limit) this.#count -= 1;
  }

  #grow(): void {
    const larger = new Float64Array(Math.min(this.#limit, this.#times.length * 2));
    larger.set(this.#times);
    this.#times = larger;
  }
}
