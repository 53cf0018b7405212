/**
 * Which upstreams failed a moment ago, so that a list is not tried from its dead end each time.
 * Advice, not truth: it lives in this process, and when all are cooling they are all tried.
 */
const FIRST_MS = 2_000;
const LONGEST_MS = 60_000;

interface Entry {
  failures: number;
  until: number;
}

export class CoolDown {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  failed(upstream: string, retryAfterSeconds?: number): void {
    const failures = (this.#entries.get(upstream)?.failures ?? 0) + 1;
    const own = Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
    const asked = retryAfterSeconds === undefined ? 0 : Math.min(retryAfterSeconds * 1000, LONGEST_MS);
    this.#entries.set(upstream, { failures, until: this.#now() + Math.max(own, asked) });
  }

  succeeded(upstream: string): void {
    this.#entries.delete(upstream);
  }

  isCooling(upstream: string): boolean {
    const entry = this.#entries.get(upstream);
    return entry !== undefined && entry.until > this.#now();
  }

  /** The same upstreams, those that failed lately last. */
  order<T extends { name: string }>(upstreams: readonly T[]): readonly T[] {
    if (upstreams.length < 2 || !upstreams.some((each) => this.isCooling(each.name))) return upstreams;
    const ready = upstreams.filter((each) => !this.isCooling(each.name));
    return [...ready, ...upstreams.filter((each) => this.isCooling(each.name))];
  }
}
