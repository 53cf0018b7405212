/** The one timer of the coordinator: at the next expiry, and now and then for what other nodes did. */

interface TickerOptions {
  now: () => number;
  /** While something waits: a decision made elsewhere is seen after this. */
  pollMs: number;
  /** While nothing is due: rows without a waiting call expire too. */
  sweepMs: number;
  /** The next expiry, and whether anything waits. */
  nextDue: () => { due: number | undefined; busy: boolean };
  work: () => Promise<void>;
  onError: (error: unknown) => void;
}

/** A clock that stands still must not make a loop. */
const LEAST_MS = 10;

export class Ticker {
  readonly #options: TickerOptions;
  #timer: NodeJS.Timeout | undefined;
  /** When it goes off, by `performance.now()`. */
  #at = Number.POSITIVE_INFINITY;
  #working = false;
  #stopped = false;

  constructor(options: TickerOptions) {
    this.#options = options;
    this.plan();
  }

  /** Something was added or extended. */
  plan(): void {
    if (this.#stopped || this.#working) return;
    const { now, pollMs, sweepMs, nextDue } = this.#options;
    const { due, busy } = nextDue();
    const most = busy ? pollMs : sweepMs;
    const wait = due === undefined ? most : Math.min(most, Math.max(LEAST_MS, due - now()));
    const at = performance.now() + wait;
    // Never postponed: frequent questions would keep it from firing.
    if (at >= this.#at) return;
    clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(() => void this.#tick(), wait).unref();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #tick(): Promise<void> {
    this.#working = true;
    this.#at = Number.POSITIVE_INFINITY;
    try {
      await this.#options.work();
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#working = false;
      this.plan();
    }
  }
}
