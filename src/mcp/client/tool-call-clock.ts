/**
 * The time of one call: it ends when the caller ends it, when the server was silent for too long,
 * or when the whole took too long; progress counts as a sign of life.
 */
import { setTimeout as delay } from 'node:timers/promises';

const LONGEST_MS = 2_147_483_647;

export class ToolCallClock {
  readonly #control = new AbortController();
  readonly #caller: AbortSignal;
  readonly #silentMs: number;
  readonly #totalMs: number;
  /** Of the whole, since `#since`. */
  #leftMs: number;
  #since = performance.now();
  #stopped = false;
  #total: NodeJS.Timeout;
  #silence: NodeJS.Timeout;
  #expired: number | undefined;

  constructor(caller: AbortSignal, { silentMs, totalMs }: { silentMs: number; totalMs: number }) {
    this.#caller = caller;
    this.#silentMs = Math.min(silentMs, LONGEST_MS);
    this.#totalMs = totalMs;
    this.#leftMs = Math.min(totalMs, LONGEST_MS);
    this.#total = this.#startTotal();
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

  get silentMs(): number {
    return this.#silentMs;
  }

  progress(): void {
    if (this.#control.signal.aborted) return;
    clearTimeout(this.#silence);
    this.#silence = this.#startSilence();
  }

  /** A person is asked: the time that they take is not the server's. */
  async pausedFor<T>(work: () => Promise<T>): Promise<T> {
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
    const begun = performance.now();
    try {
      return await work();
    } finally {
      if (!this.#stopped && !this.#control.signal.aborted) {
        this.#leftMs -= Math.max(0, begun - this.#since);
        this.#since = performance.now();
        this.#total = this.#startTotal();
        this.progress();
      }
    }
  }

  /** Resolves early when the call ends. */
  async wait(ms: number): Promise<void> {
    const { signal } = this;
    await delay(ms, undefined, { signal }).catch(() => {});
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#total);
    clearTimeout(this.#silence);
    this.#caller.removeEventListener('abort', this.#onCaller);
  }

  readonly #onCaller = (): void => this.#control.abort('The call was cancelled');

  #startTotal(): NodeJS.Timeout {
    return setTimeout(() => this.#expire(this.#totalMs), Math.max(0, this.#leftMs));
  }

  #startSilence(): NodeJS.Timeout {
    return setTimeout(() => this.#expire(this.#silentMs), this.#silentMs);
  }

  #expire(ms: number): void {
    this.#expired = ms;
    this.#control.abort('The call took too long');
  }
}
