/** What a key or a team uses besides money: requests and tokens a minute, answers at once. */
import type { LimitClaims } from '../../cluster/limit-claims.js';
import { GatewayError } from '../../core/errors.js';
import { MinuteWindow } from '../../core/minute-window.js';
import type { UsageRecord } from '../../store/usage.js';

export interface HolderLimits {
  rpm?: number;
  tpm?: number;
  max_streams?: number;
  max_agents?: number;
}

interface Holder {
  kind: 'key' | 'team';
  name: string;
}

interface MeterOptions {
  /** In milliseconds, of a clock that nobody sets. */
  now: () => number;
  /** Where other nodes share the limits. */
  claims: LimitClaims | undefined;
}

const MINUTE_MS = 60_000;
/** Open answers of a node that is not heard of count for so long; it says what is open twice a second. */
const OPEN_MS = 10_000;

export class HolderMeter {
  readonly #holder: Holder;
  readonly #options: MeterOptions;
  readonly #tokens = new MinuteWindow();
  readonly #requests = new MinuteWindow();
  readonly #open = { streams: 0, agents: 0 };
  /** Requests that wait to know whether there are tokens left. */
  #asking = 0;
  #limits: HolderLimits = {};

  constructor(holder: Holder, options: MeterOptions) {
    this.#holder = holder;
    this.#options = options;
  }

  limit(limits: HolderLimits): void {
    this.#limits = limits;
  }

  get countsTokens(): boolean {
    return this.#limits.tpm !== undefined;
  }

  count({ inputTokens, outputTokens, cacheWriteTokens }: UsageRecord): void {
    // What a cache gave is not counted by providers either.
    this.#tokens.add(this.#options.now(), inputTokens + outputTokens + cacheWriteTokens);
  }

  /** Rejects where the tokens of the minute are used up. */
  async checkTokens(): Promise<void> {
    const { tpm } = this.#limits;
    if (tpm === undefined) return;
    const now = this.#options.now();
    const wait = this.#tokens.waitFor(now, tpm);
    // A request that asks needs one more; without any, what is claimed ends with the minute.
    const used = () => this.#tokens.sum(this.#options.now()) + Math.min(this.#asking, 1);
    this.#asking += 1;
    try {
      if (wait === 0 && (await this.#covers('tpm', tpm, used, MINUTE_MS))) return;
    } finally {
      this.#asking -= 1;
    }
    throw this.#usedUp(`${tpm} tokens a minute`, wait || soonest(this.#tokens, now));
  }

  /**
   * Takes a place until the returned function is called; rejects where there is none. Nothing is awaited
   * between check and count: two requests at once cannot both take the last place.
   */
  async take(isAgent: boolean): Promise<() => void> {
    const { rpm, max_streams, max_agents } = this.#limits;
    const now = this.#options.now();
    if (rpm !== undefined) {
      const wait = this.#requests.waitFor(now, rpm);
      if (wait > 0) throw this.#usedUp(`${rpm} requests a minute`, wait);
    }
    const open = this.#open;
    if (max_streams !== undefined && open.streams >= max_streams) throw this.#full(max_streams, 'answers');
    const mostAgents = isAgent ? max_agents : undefined;
    if (mostAgents !== undefined && open.agents >= mostAgents) throw this.#full(mostAgents, 'agents');
    this.#requests.add(now, 1);
    open.streams += 1;
    if (isAgent) open.agents += 1;
    const release = () => {
      open.streams -= 1;
      if (isAgent) open.agents -= 1;
    };
    try {
      if (!(await this.#covers('streams', max_streams, () => open.streams, OPEN_MS)))
        throw this.#full(max_streams ?? 0, 'answers');
      if (!(await this.#covers('agents', mostAgents, () => open.agents, OPEN_MS)))
        throw this.#full(mostAgents ?? 0, 'agents');
      const requests = () => this.#requests.sum(this.#options.now());
      if (!(await this.#covers('rpm', rpm, requests, MINUTE_MS)))
        throw this.#usedUp(`${rpm} requests a minute`, soonest(this.#requests, now));
    } catch (error) {
      release();
      this.#requests.add(this.#options.now(), -1);
      throw error;
    }
    return release;
  }

  #covers(
    what: string,
    limit: number | undefined,
    used: () => number,
    forMs: number,
  ): boolean | Promise<boolean> {
    const { claims } = this.#options;
    if (limit === undefined || claims === undefined) return true;
    const { kind, name } = this.#holder;
    return claims.covers({ name: `${kind} ${what} ${name}`, limit, used, forMs });
  }

  #usedUp(what: string, wait: number): GatewayError {
    const { kind, name } = this.#holder;
    return new GatewayError(
      'rate_limited',
      `The ${kind} "${name}" has used up its ${what}. Retry in ${wait} s.`,
      {
        retryAfter: wait,
        retryable: true,
      },
    );
  }

  #full(most: number, what: 'answers' | 'agents'): GatewayError {
    const { kind, name } = this.#holder;
    return new GatewayError(
      'rate_limited',
      `The ${kind} "${name}" has ${most} ${what} open at once, which is its limit. Retry when one has ended.`,
      { retryAfter: 1, retryable: true },
    );
  }
}

/** Of a limit that other nodes use up as well, which this node cannot know: when something of its own is free. */
const UNKNOWN_WAIT_S = 5;

function soonest(window: MinuteWindow, now: number): number {
  const sum = window.sum(now);
  return sum > 0 ? Math.max(1, window.waitFor(now, sum)) : UNKNOWN_WAIT_S;
}
