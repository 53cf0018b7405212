/** When each upstream last answered and last failed, as requests have seen it: nothing is called to find out. */

export interface UpstreamSeen {
  answeredAt?: number;
  failedAt?: number;
  /** Of the last failure. */
  code?: string;
}

export class UpstreamHealth {
  readonly #now: () => number;
  readonly #seen = new Map<string, UpstreamSeen>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  answered(upstream: string): void {
    this.#seen.set(upstream, { ...this.#seen.get(upstream), answeredAt: this.#now() });
  }

  failed(upstream: string, code: string): void {
    this.#seen.set(upstream, { ...this.#seen.get(upstream), failedAt: this.#now(), code });
  }

  of(upstream: string): UpstreamSeen {
    return this.#seen.get(upstream) ?? {};
  }
}
