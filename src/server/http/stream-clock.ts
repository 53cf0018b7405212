/** One timer for all running streams: hundreds of their own would cost more than the pings. */

/** Counted in ticks of the clock; the stream itself sets them back to 0. */
export interface Ticking {
  /** Ticks since something was written. */
  quietTicks: number;
  /** Ticks since the reader took something, while it has more to take; undefined otherwise. */
  stalledTicks: number | undefined;
  onQuiet(): void;
  onStall(): void;
}

const TICKS_A_PING = 15;

export class StreamClock {
  readonly #streams = new Set<Ticking>();
  readonly #tickMs: number;
  readonly #stallTicks: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(pingMs: number, stallMs: number) {
    this.#tickMs = Math.max(1, Math.round(pingMs / TICKS_A_PING));
    this.#stallTicks = Math.ceil(stallMs / this.#tickMs);
  }

  add(stream: Ticking): void {
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  delete(stream: Ticking): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    for (const stream of this.#streams) {
      if (stream.stalledTicks !== undefined) {
        stream.stalledTicks += 1;
        if (stream.stalledTicks === this.#stallTicks) stream.onStall();
        continue;
      }
      stream.quietTicks += 1;
      if (stream.quietTicks < TICKS_A_PING) continue;
      stream.quietTicks = 0;
      stream.onQuiet();
    }
  }
}
