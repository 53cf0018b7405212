/**
 * How one target of a pool does, for whom. A limit of its credential holds for every key, but for one
 * model; that it cannot be reached holds for all; any other failure may be the doing of the key that
 * asked, so only that key leaves the target alone. After its time one request finds out first; where its
 * answer takes long, a further one each `coolMs`.
 */
import type { GatewayError } from '../../core/errors.js';

export const COOL_LIMITS = {
  /** Where the upstream does not say for how long; twice as long with each further failure. */
  coolMs: 2_000,
  longestCoolMs: 30_000,
  /** Of what an upstream asks for. */
  leastAskedMs: 1_000,
  longestAskedMs: 300_000,
  /** Of keys and models each. */
  entries: 1_000,
} as const;

/** `limit`: of the credential, for one model. `unreachable`: for all. `key`: as far as this key knows. */
export type CoolKind = 'limit' | 'unreachable' | 'key';

/** Who asks, and for what. */
export interface Asker {
  key: string;
  model: string;
}

interface Cooling {
  failures: number;
  /** When the last of them was. */
  at: number;
  until: number;
  /** The upstream itself said for how long. */
  isAsked: boolean;
  /** The request that finds out, and since when. */
  probe: { by: object; at: number } | undefined;
  last: GatewayError;
}

/** A request to a target. One of the three is called, once. */
interface TargetTry {
  /** `spentS`: the answer said that a limit is used up for so long. */
  succeeded(spentS: number | undefined): void;
  failed(kind: CoolKind, error: GatewayError, askedS: number | undefined): void;
  abandoned(): void;
}

export class TargetHealth {
  readonly #now: () => number;
  /** By what they hold for; the one that failed longest ago comes first. */
  readonly #cooling = new Map<string, Cooling>();
  /** By model, until when a limit is used up. */
  readonly #spent = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Those of the lowest rank are asked. 0: as ever, also to find out whether it is well again. 1: a limit is
   * nearly used up. 2: its time is over, and another request is just finding out. Undefined: not at all.
   */
  rank(asker: Asker): number | undefined {
    const now = this.#now();
    let rank = (this.#spent.get(asker.model) ?? 0) > now ? 1 : 0;
    for (const each of this.#of(asker)) {
      if (each.until > now) return undefined;
      if (!isProbed(each, now)) continue;
      if (!each.isAsked) return undefined;
      rank = 2;
    }
    return rank;
  }

  /** Why it is not asked, and for how many milliseconds yet. */
  cooling(asker: Asker): { waitMs: number; last: GatewayError } | undefined {
    const [worst] = [...this.#of(asker)].sort((one, two) => two.until - one.until);
    return worst && { waitMs: Math.max(0, worst.until - this.#now()), last: worst.last };
  }

  /** Whether no key may ask it now. */
  get isCooling(): boolean {
    const now = this.#now();
    return [...this.#cooling].some(([scope, { until }]) => !scope.startsWith('key ') && until > now);
  }

  begin(asker: Asker): TargetTry {
    const now = this.#now();
    const end = (): void => {
      for (const each of this.#of(asker)) if (each.probe?.by === begun) each.probe = undefined;
    };
    const begun: TargetTry = {
      succeeded: (spentS) => {
        end();
        // What failed since it began is newer than what it found out.
        for (const scope of scopesOf(asker)) {
          if ((this.#cooling.get(scope)?.at ?? Number.POSITIVE_INFINITY) <= now) this.#cooling.delete(scope);
        }
        if (spentS !== undefined) this.#spend(asker.model, spentS * 1000);
      },
      failed: (kind, error, askedS) => {
        end();
        this.#fail(SCOPE_OF[kind](asker), now, error, askedS);
      },
      abandoned: end,
    };
    for (const each of this.#of(asker)) {
      if (each.until <= now && !isProbed(each, now)) each.probe = { by: begun, at: now };
    }
    return begun;
  }

  #fail(scope: string, began: number, error: GatewayError, askedS: number | undefined): void {
    const { coolMs, longestCoolMs, leastAskedMs, longestAskedMs } = COOL_LIMITS;
    const now = this.#now();
    const before = this.#cooling.get(scope);
    // Requests that ran side by side and failed together are one failure.
    const isFurther = before === undefined || began >= before.at;
    const failures = (before?.failures ?? 0) + (isFurther ? 1 : 0);
    const own = Math.min(coolMs * 2 ** (failures - 1), longestCoolMs);
    const asked = askedS && Math.min(Math.max(askedS * 1000, leastAskedMs), longestAskedMs);
    const until = Math.max(before?.until ?? 0, now + (asked ?? own));
    const { probe } = before ?? {};
    put(this.#cooling, scope, { failures, at: now, until, isAsked: asked !== undefined, probe, last: error });
  }

  #spend(model: string, forMs: number): void {
    put(this.#spent, model, this.#now() + Math.min(forMs, COOL_LIMITS.longestAskedMs));
  }

  *#of(asker: Asker): Generator<Cooling> {
    if (this.#cooling.size === 0) return;
    for (const scope of scopesOf(asker)) {
      const found = this.#cooling.get(scope);
      if (found !== undefined) yield found;
    }
  }
}

/** Whether a request is finding out. An answer may take minutes, which says nothing about the target. */
const isProbed = ({ probe }: Cooling, now: number): boolean =>
  probe !== undefined && now - probe.at < COOL_LIMITS.coolMs;

const SCOPE_OF: Readonly<Record<CoolKind, (asker: Asker) => string>> = {
  unreachable: () => 'all',
  limit: ({ model }) => `model ${model}`,
  key: ({ key }) => `key ${key}`,
};

const scopesOf = (asker: Asker): string[] => Object.values(SCOPE_OF).map((scope) => scope(asker));

/** Behind a glob the names of models come from clients. */
function put<V>(entries: Map<string, V>, name: string, value: V): void {
  entries.delete(name);
  entries.set(name, value);
  for (const oldest of entries.keys()) {
    if (entries.size <= COOL_LIMITS.entries) break;
    entries.delete(oldest);
  }
}
