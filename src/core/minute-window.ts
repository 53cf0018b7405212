const SECONDS = 60;

/** A sum over the last 60 seconds, in steps of a second. `now` is in milliseconds, of a clock that nobody sets. */
export class MinuteWindow {
  readonly #sums = new Float64Array(SECONDS);
  #second = 0;

  add(now: number, amount: number): void {
    this.#advance(now);
    this.#sums[this.#second % SECONDS] = (this.#sums[this.#second % SECONDS] ?? 0) + amount;
  }

  sum(now: number): number {
    this.#advance(now);
    return this.#sums.reduce((total, each) => total + each, 0);
  }

  /** Seconds until less than `limit` is left in the window; 0 where that is so. */
  waitFor(now: number, limit: number): number {
    let sum = this.sum(now);
    for (let waited = 0; waited < SECONDS; waited += 1) {
      if (sum < limit) return waited;
      sum -= this.#sums[(this.#second + 1 + waited) % SECONDS] ?? 0;
    }
    return SECONDS;
  }

  #advance(now: number): void {
    const second = Math.floor(now / 1000);
    const passed = Math.min(second - this.#second, SECONDS);
    for (let i = 1; i <= passed; i += 1) this.#sums[(this.#second + i) % SECONDS] = 0;
    if (second > this.#second) {
      if (second - this.#second >= SECONDS) this.#sums.fill(0);
      this.#second = second;
    }
  }
}
