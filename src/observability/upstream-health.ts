/** When each upstream last answered and last failed, as requests have seen it: nothing is called to find out. */
import type { SeriesData } from './series.js';

/** As long as a circuit breaker stays open at most before the upstream is asked again. */
const REFUSED_MS = 60_000;

export interface UpstreamSeen {
  answeredAt?: number;
  failedAt?: number;
  /** Of the last failure. */
  code?: string;
  /** A request was refused without asking it. */
  refusedAt?: number;
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

  refused(upstream: string): void {
    this.#seen.set(upstream, { ...this.#seen.get(upstream), refusedAt: this.#now() });
  }

  /** For metrics. An upstream that nobody has asked has no line. */
  collect(): SeriesData[] {
    const seen = [...this.#seen];
    const now = this.#now();
    const isOpen = ({ refusedAt = 0, answeredAt = 0 }: UpstreamSeen): boolean =>
      refusedAt > answeredAt && now - refusedAt < REFUSED_MS;
    const gauge = (name: string, help: string, value: (each: UpstreamSeen) => boolean): SeriesData => ({
      name,
      help,
      type: 'gauge',
      points: seen.map(([upstream, each]) => ({ labels: { upstream }, value: value(each) ? 1 : 0 })),
    });
    return [
      gauge(
        'toolgate_upstream_up',
        '1 where the last request to the upstream was answered.',
        ({ answeredAt = 0, failedAt = 0 }) => answeredAt >= failedAt,
      ),
      gauge(
        'toolgate_breaker_open',
        '1 while requests are refused without asking the upstream, for at least one key.',
        isOpen,
      ),
    ];
  }

  of(upstream: string): UpstreamSeen {
    return this.#seen.get(upstream) ?? {};
  }
}
