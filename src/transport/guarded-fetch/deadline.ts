/** A time limit that stands still while a person is asked. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #reason: () => Error;
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Runs from the start. `reason` is what the signal fires with. */
  constructor(ms: number, reason: () => Error) {
    this.signal = this.#controller.signal;
    this.#leftMs = ms;
    this.#reason = reason;
    this.resume();
  }

  resume(): void {
    if (this.#timer !== undefined) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#controller.abort(this.#reason()), this.#leftMs);
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#startedAt));
  }
}
