/**
 * The time of one call: it ends when the caller ends it, when the server was silent for too long,
 * or when the whole took too long; progress counts as a sign of life.
 */
const LONGEST_MS = 2_147_483_647;

export class CallClock {
  readonly #control = new AbortController();
  readonly #caller: AbortSignal;
  readonly #silentMs: number;
  readonly #total: NodeJS.Timeout;
  #silence: NodeJS.Timeout;
  #expired: number | undefined;

  constructor(caller: AbortSignal, { silentMs, totalMs }: { silentMs: number; totalMs: number }) {
    this.#caller = caller;
    this.#silentMs = Math.min(silentMs, LONGEST_MS);
    this.#total = setTimeout(() => this.#expire(totalMs), Math.min(totalMs, LONGEST_MS));
    this.#silence = this.#startSilence();
    caller.addEventListener('abort', this.#onCaller);
  }

  /** A signal of its own: what listens to it is let go with the call, also where the caller's lives on. */
  get signal(): AbortSignal {
    return this.#control.signal;
  }

  /** The time that was exceeded. */
  get expired(): number | undefined {
    return this.#expired;
  }

  progress(): void {
    if (this.#control.signal.aborted) return;
    clearTimeout(this.#silence);
    this.#silence = this.#startSilence();
  }

  stop(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#silence);
    this.#caller.removeEventListener('abort', this.#onCaller);
  }

  readonly #onCaller = (): void => this.#control.abort('The call was cancelled');

  #startSilence(): NodeJS.Timeout {
    return setTimeout(() => this.#expire(this.#silentMs), this.#silentMs);
  }

  #expire(ms: number): void {
    this.#expired = ms;
    this.#control.abort('The call took too long');
  }
}
