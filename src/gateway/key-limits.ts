/**
 * What a key may use besides requests a minute: tokens a minute, answers at once, and money a day, week
 * or month. Checked before an engine is asked; what has begun is finished, so a limit is passed by no
 * more than the answers that were open when it was reached.
 */
import { BUDGET_UNKNOWN, GatewayError } from '../core/errors.js';
import { onAbort } from '../core/stopping.js';
import type { Answer, ModelRequest } from '../engines/engine.js';
import type { UsageRecord, UsageStore } from '../store/usage.js';
import { type Clock, endOf, type Period, Spending } from './spending.js';

interface Budget {
  usd: number;
  /** From here on answers say so, and whoever watches is told once a period. */
  soft_usd?: number;
  per: Period;
  /** Of a model without a price, and while the store cannot be asked. */
  on_unknown: 'allow' | 'deny';
}

export interface LimitedKey {
  name: string;
  tpm?: number;
  max_streams?: number;
  max_agents?: number;
  budget?: Budget;
}

/** A key has passed the soft limit of its budget. */
export interface SoftLimitPassed {
  key: string;
  spentUsd: number;
  softUsd: number;
  usd: number;
  per: Period;
  /** Seconds of Unix time. */
  resetAt: number;
}

/** What is asked for, as far as limits differ by it. */
export interface Asked {
  hasPrice: boolean;
  isAgent?: boolean;
}

/** From these shares of a budget on the answers carry a warning, which Claude Code shows its user. */
const WARN_AT = [0.95, 0.75];

const CLOCK: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** What is checked before it begins. */
type Metered = Pick<ModelRequest, 'principal' | 'signal'>;

export class KeyLimits {
  readonly #clock: Clock;
  readonly #spending: Spending;
  readonly #onSoftLimit: (passed: SoftLimitPassed) => void;
  #keys = new Map<string, KeyMeter>();

  constructor(
    keys: readonly LimitedKey[],
    usage: UsageStore,
    clock: Clock = CLOCK,
    onSoftLimit: (passed: SoftLimitPassed) => void = () => {},
  ) {
    this.#clock = clock;
    this.#spending = new Spending(usage, clock);
    this.#onSoftLimit = onSoftLimit;
    this.use(keys);
  }

  /** Other limits from now on. What a key has used so far, and its open answers, go on counting. */
  use(keys: readonly LimitedKey[]): void {
    const before = this.#keys;
    this.#keys = new Map();
    for (const key of keys) {
      const { tpm, max_streams, max_agents, budget } = key;
      const isLimited = [tpm, max_streams, max_agents, budget].some((limit) => limit !== undefined);
      const meter =
        before.get(key.name) ??
        (isLimited ? new KeyMeter(key, this.#spending, this.#clock, this.#onSoftLimit) : undefined);
      meter?.limit(key);
      if (meter !== undefined) this.#keys.set(key.name, meter);
    }
  }

  /** What an answer has used, once it has ended. */
  count(row: UsageRecord): void {
    this.#spending.add(row.principal, row.costUsd ?? 0);
    this.#keys.get(row.principal)?.count(row);
  }

  /** What the key's answers use has to be known. */
  meters(principal: string): boolean {
    return this.#keys.get(principal)?.isMetered ?? false;
  }

  /** Rejects where the key has used up its tokens or its money. */
  async check(call: Pick<Metered, 'principal'>, asked: Asked): Promise<void> {
    await this.#keys.get(call.principal.name)?.check(asked);
  }

  /** Rejects where the key has used up what it may; else runs, and counts the answer as open until its end. */
  within(call: Metered, asked: Asked, run: () => Promise<Answer>): Promise<Answer> {
    const meter = this.#keys.get(call.principal.name);
    return meter === undefined ? run() : meter.within(call.signal, asked, run);
  }
}

class KeyMeter {
  #key: LimitedKey;
  readonly #spending: Spending;
  readonly #clock: Clock;
  readonly #onSoftLimit: (passed: SoftLimitPassed) => void;
  readonly #tokens = new MinuteWindow();
  readonly #open = { streams: 0, agents: 0 };
  /** The period that whoever watches was told of. */
  #toldUntil = 0;

  constructor(
    key: LimitedKey,
    spending: Spending,
    clock: Clock,
    onSoftLimit: (passed: SoftLimitPassed) => void,
  ) {
    this.#key = key;
    this.#spending = spending;
    this.#clock = clock;
    this.#onSoftLimit = onSoftLimit;
  }

  limit(key: LimitedKey): void {
    this.#key = key;
  }

  count({ inputTokens, outputTokens, cacheWriteTokens }: UsageRecord): void {
    // What a cache gave is not counted by providers either.
    this.#tokens.add(this.#clock.monotonic(), inputTokens + outputTokens + cacheWriteTokens);
  }

  get isMetered(): boolean {
    return this.#key.tpm !== undefined || this.#key.budget !== undefined;
  }

  /** Headers for the answer. */
  async check({ hasPrice }: Asked): Promise<Record<string, string>> {
    this.#checkTokens();
    return this.#checkBudget(hasPrice);
  }

  async within(signal: AbortSignal, asked: Asked, run: () => Promise<Answer>): Promise<Answer> {
    const headers = await this.check(asked);
    const release = this.#take(signal, asked.isAgent === true);
    try {
      const answer = await run();
      return {
        ...answer,
        headers: { ...answer.headers, ...headers },
        body: untilEnd(answer.body, release),
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  #checkTokens(): void {
    const { name, tpm } = this.#key;
    if (tpm === undefined) return;
    const wait = this.#tokens.waitFor(this.#clock.monotonic(), tpm);
    if (wait === 0) return;
    throw new GatewayError(
      'rate_limited',
      `The key "${name}" has used up its ${tpm} tokens a minute. Retry in ${wait} s.`,
      { retryAfter: wait, retryable: true },
    );
  }

  /** Nothing is awaited between check and count: two requests at once cannot both take the last place. */
  #take(signal: AbortSignal, isAgent: boolean): () => void {
    const { name, max_streams, max_agents } = this.#key;
    const open = this.#open;
    if (max_streams !== undefined && open.streams >= max_streams) throw full(name, max_streams, 'answers');
    if (isAgent && max_agents !== undefined && open.agents >= max_agents) {
      throw full(name, max_agents, 'agents');
    }
    open.streams += 1;
    if (isAgent) open.agents += 1;
    let isOpen = true;
    const release = (): void => {
      if (!isOpen) return;
      isOpen = false;
      open.streams -= 1;
      if (isAgent) open.agents -= 1;
    };
    const stopListening = onAbort(signal, release);
    return () => {
      release();
      stopListening();
    };
  }

  async #checkBudget(hasPrice: boolean): Promise<Record<string, string>> {
    const { name, budget } = this.#key;
    if (budget === undefined) return {};
    const resetAt = Math.ceil(endOf(budget.per, this.#clock.now()) / 1000);
    let spent: number;
    try {
      if (!hasPrice) throw new UnknownPrice();
      spent = await this.#spending.of(name, budget.per);
    } catch (error) {
      if (budget.on_unknown === 'allow') return { 'x-toolgate-budget': 'unknown; allowed' };
      throw error instanceof UnknownPrice
        ? new GatewayError(
            'forbidden',
            `The model has no price, so that the budget of the key "${name}" cannot be counted. Give the model a price, or set on_unknown: allow with the budget.`,
            { detail: BUDGET_UNKNOWN },
          )
        : new GatewayError('unavailable', `The budget of the key "${name}" cannot be read just now.`, {
            retryAfter: 5,
            retryable: true,
            detail: BUDGET_UNKNOWN,
            cause: error,
          });
    }
    if (spent >= budget.usd) {
      const retryAfter = Math.max(1, resetAt - Math.floor(this.#clock.now() / 1000));
      throw new GatewayError(
        'billing',
        `The key "${name}" has spent its budget of ${budget.usd} USD a ${budget.per}. It begins anew at ${timeOf(resetAt)}.`,
        { status: 429, retryAfter, resetAt },
      );
    }
    const isSoft = budget.soft_usd !== undefined && spent >= budget.soft_usd;
    if (isSoft) this.#tellSoft(budget, spent, resetAt);
    const soft = isSoft ? `; above its soft limit of ${budget.soft_usd} USD` : '';
    return {
      'x-toolgate-budget': `${spent.toFixed(4)} of ${budget.usd} USD a ${budget.per}${soft}; resets ${timeOf(resetAt)}`,
      ...standing(spent / budget.usd, isSoft, resetAt),
    };
  }

  /** Once a period. */
  #tellSoft({ soft_usd: softUsd = 0, usd, per }: Budget, spentUsd: number, resetAt: number): void {
    if (this.#toldUntil === resetAt) return;
    this.#toldUntil = resetAt;
    this.#onSoftLimit({ key: this.#key.name, spentUsd, softUsd, usd, per, resetAt });
  }
}

function full(key: string, most: number, what: 'answers' | 'agents'): GatewayError {
  return new GatewayError(
    'rate_limited',
    `The key "${key}" has ${most} ${what} open at once, which is its limit. Retry when one has ended.`,
    { retryAfter: 1, retryable: true },
  );
}

/** How much of it is used, in the headers that Claude Code reads. `overage`: of a calendar, not of the last hours. */
function standing(share: number, isSoft: boolean, resetAt: number): Record<string, string> {
  const passed =
    WARN_AT.find((each) => share >= each) ?? (isSoft ? Math.floor(share * 100) / 100 : undefined);
  const status = passed === undefined ? 'allowed' : 'allowed_warning';
  const prefix = 'anthropic-ratelimit-unified';
  return {
    [`${prefix}-status`]: status,
    [`${prefix}-reset`]: String(resetAt),
    [`${prefix}-representative-claim`]: 'overage',
    [`${prefix}-overage-status`]: status,
    [`${prefix}-overage-reset`]: String(resetAt),
    // 1 is a budget that is used up.
    [`${prefix}-overage-utilization`]: Math.min(0.99, share).toFixed(2),
    ...(passed === undefined ? {} : { [`${prefix}-overage-surpassed-threshold`]: String(passed) }),
  };
}

class UnknownPrice extends Error {}

const SECONDS = 60;

/** A sum over the last 60 seconds, in steps of a second. */
class MinuteWindow {
  readonly #sums = new Float64Array(SECONDS);
  #second = 0;

  add(now: number, amount: number): void {
    this.#advance(now);
    this.#sums[this.#second % SECONDS] = (this.#sums[this.#second % SECONDS] ?? 0) + amount;
  }

  /** Seconds until less than `limit` is left in the window; 0 where that is so. */
  waitFor(now: number, limit: number): number {
    this.#advance(now);
    let sum = this.#sums.reduce((total, each) => total + each, 0);
    for (let waited = 0; waited < SECONDS; waited += 1) {
      if (sum < limit) return waited;
      sum -= this.#sums[(this.#second + 1 + waited) % SECONDS] ?? 0;
    }
    return SECONDS;
  }

  #advance(now: number): void {
    const second = Math.floor(now / 1000);
    const passed = Math.min(second - this.#second, SECONDS);
    for (let i = 1; i <= passed; i += 1) this.#sums[(this.#second + i) % SECONDS] = 0;
    if (second > this.#second) {
      if (second - this.#second >= SECONDS) this.#sums.fill(0);
      this.#second = second;
    }
  }
}

const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000', '');

/** Whether it is read to its end, given up or broken. */
function untilEnd(body: Answer['body'], onEnd: () => void): Answer['body'] {
  return body.kind === 'bytes'
    ? { ...body, chunks: watched(body.chunks, onEnd) }
    : { ...body, batches: watched(body.batches, onEnd) };
}

/** By hand: a generator that was never begun does not run its `finally` when it is given up. */
function watched<T>(items: AsyncIterable<T>, onEnd: () => void): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = items[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const item = await iterator.next();
            if (item.done === true) onEnd();
            return item;
          } catch (error) {
            onEnd();
            throw error;
          }
        },
        async return() {
          onEnd();
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
