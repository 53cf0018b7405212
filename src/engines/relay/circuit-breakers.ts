/**
 * How each upstream did lately, as one key saw it: what one key breaks is no outage for another. Decides
 * who is asked first, whether a try may be repeated, and when nobody is asked at all. It lives in this
 * process and is bounded.
 */
import { GatewayError } from '../../core/errors.js';

export const BREAKER_LIMITS = {
  /** After its first failure an upstream is asked after the others, for twice as long with each further one. */
  coolMs: 2_000,
  longestCoolMs: 15_000,
  /** As long as an upstream may ask for. */
  longestAskedMs: 60_000,
  /** One of so many first tries may be repeated… */
  triesARetry: 5,
  /** …and so many may be at once, after a quiet time. */
  retryBurst: 10,
  /** An outage: so many failures in a row, over so long. Then only one request at a time tries. */
  outageFailures: 10,
  outageMs: 5_000,
  entries: 10_000,
} as const;

const MOST_TRIES = BREAKER_LIMITS.triesARetry * BREAKER_LIMITS.retryBurst;

interface Breaker {
  /** In a row, of any kind. */
  failures: number;
  /** In a row, of those that say that the upstream is down. */
  outages: number;
  firstOutageAt: number;
  coolUntil: number;
  /** First tries that none was repeated for yet, as far as they count. */
  tries: number;
  /** The request that is finding out whether the outage is over. */
  probe: object | undefined;
  last: GatewayError | undefined;
}

/** One request to one upstream. One of the three is called, once. */
interface Try {
  succeeded(): void;
  failed(error: GatewayError): void;
  /** Nothing was found out about the upstream: the client left, or the request was wrong. */
  abandoned(): void;
}

/** Not that it has had enough of this key, or does not know it. */
const isOutage = ({ status }: GatewayError): boolean => status >= 500;

export class CircuitBreakers {
  /** By upstream and key; the one that was used longest ago comes first. */
  readonly #entries = new Map<string, Breaker>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The same upstreams, those that failed lately last. */
  order<T extends { name: string }>(upstreams: readonly T[], key: string): readonly T[] {
    const now = this.#now();
    const isCooling = ({ name }: T): boolean => (this.#find(name, key)?.coolUntil ?? 0) > now;
    if (upstreams.length < 2 || !upstreams.some(isCooling)) return upstreams;
    return [...upstreams.filter((each) => !isCooling(each)), ...upstreams.filter(isCooling)];
  }

  /** Before each try: the try, or the error where the upstream is not asked because it is down. */
  begin(upstream: string, key: string, isRetry: boolean): Try | GatewayError {
    const breaker = this.#take(upstream, key);
    if (!isRetry) breaker.tries = Math.min(breaker.tries + 1, MOST_TRIES);
    const { last } = breaker;
    if (last === undefined || !this.#isDown(breaker)) return this.#try(breaker);
    const waitMs = breaker.coolUntil - this.#now();
    if (waitMs <= 0 && breaker.probe === undefined) {
      const probe = this.#try(breaker);
      breaker.probe = probe;
      return probe;
    }
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    return new GatewayError(
      last.code,
      `The upstream ${upstream} has failed ${breaker.outages} times in a row and is asked again in ${seconds} s. Its last error: ${last.message}`,
      {
        status: last.status,
        retryAfter: seconds,
        ...(last.detail === undefined ? {} : { detail: last.detail }),
      },
    );
  }

  /** Takes from what may be repeated, where there is something left. */
  mayRetry(upstream: string, key: string): boolean {
    const breaker = this.#take(upstream, key);
    if (breaker.tries < BREAKER_LIMITS.triesARetry) return false;
    breaker.tries -= BREAKER_LIMITS.triesARetry;
    return true;
  }

  /** What becomes of one that began before the outage says nothing about the probe: it stays the only one. */
  #try(breaker: Breaker): Try {
    const end = (): void => {
      if (breaker.probe === began) breaker.probe = undefined;
    };
    const began: Try = {
      succeeded: () => Object.assign(breaker, { ...CLOSED, tries: breaker.tries }),
      failed: (error) => {
        end();
        this.#failed(breaker, error);
      },
      abandoned: end,
    };
    return began;
  }

  #failed(breaker: Breaker, error: GatewayError): void {
    const now = this.#now();
    breaker.failures += 1;
    breaker.outages = isOutage(error) ? breaker.outages + 1 : 0;
    if (breaker.outages === 1) breaker.firstOutageAt = now;
    breaker.last = error;
    const { coolMs, longestCoolMs, longestAskedMs } = BREAKER_LIMITS;
    const own = Math.min(coolMs * 2 ** (breaker.failures - 1), longestCoolMs);
    const asked = Math.min((error.retryAfter ?? 0) * 1000, longestAskedMs);
    breaker.coolUntil = now + Math.max(own, asked);
  }

  #isDown({ outages, firstOutageAt }: Breaker): boolean {
    const { outageFailures, outageMs } = BREAKER_LIMITS;
    return outages >= outageFailures && this.#now() - firstOutageAt >= outageMs;
  }

  #find(upstream: string, key: string): Breaker | undefined {
    return this.#entries.get(nameOf(upstream, key));
  }

  #take(upstream: string, key: string): Breaker {
    const name = nameOf(upstream, key);
    const breaker = this.#entries.get(name) ?? { ...CLOSED, tries: MOST_TRIES };
    this.#entries.delete(name);
    this.#entries.set(name, breaker);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= BREAKER_LIMITS.entries) break;
      this.#entries.delete(oldest);
    }
    return breaker;
  }
}

const CLOSED = {
  failures: 0,
  outages: 0,
  firstOutageAt: 0,
  coolUntil: 0,
  probe: undefined,
  last: undefined,
} as const satisfies Omit<Breaker, 'tries'>;

const nameOf = (upstream: string, key: string): string => `${upstream}\0${key}`;
