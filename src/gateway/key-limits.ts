/**
 * What a key may use besides requests a minute: tokens a minute, answers at once, and money a day, week
 * or month. Checked before an engine is asked; what has begun is finished, so a limit is passed by no
 * more than the answers that were open when it was reached.
 */
import { GatewayError } from '../core/errors.js';
import { onAbort } from '../core/stopping.js';
import type { Answer, ModelRequest } from '../engines/engine.js';
import type { UsageRecord, UsageStore } from '../store/usage.js';

type Period = 'day' | 'week' | 'month';

interface Budget {
  usd: number;
  per: Period;
  /** Of a model without a price, and while the store cannot be asked. */
  on_unknown: 'allow' | 'deny';
}

export interface LimitedKey {
  name: string;
  tpm?: number;
  max_streams?: number;
  budget?: Budget;
}

/** From this share of a budget on the answers carry a warning. */
const WARN_AT = 0.8;

export class KeyLimits {
  readonly #keys = new Map<string, KeyMeter>();

  constructor(keys: readonly LimitedKey[], usage: UsageStore, now: () => number = Date.now) {
    for (const key of keys) {
      if (key.tpm === undefined && key.max_streams === undefined && key.budget === undefined) continue;
      this.#keys.set(key.name, new KeyMeter(key, usage, now));
    }
  }

  /** What an answer has used, once it has ended. */
  count(row: UsageRecord): void {
    this.#keys.get(row.principal)?.count(row);
  }

  /** Rejects where the key has used up what it may; else runs, and counts the answer as open until its end. */
  within(call: ModelRequest, hasPrice: boolean, run: () => Promise<Answer>): Promise<Answer> {
    const meter = this.#keys.get(call.principal.name);
    return meter === undefined ? run() : meter.within(call.signal, hasPrice, run);
  }
}

class KeyMeter {
  readonly #key: LimitedKey;
  readonly #now: () => number;
  readonly #tokens = new MinuteWindow();
  readonly #spending: Spending | undefined;
  #open = 0;

  constructor(key: LimitedKey, usage: UsageStore, now: () => number) {
    this.#key = key;
    this.#now = now;
    this.#spending =
      key.budget === undefined ? undefined : new Spending(key.name, key.budget.per, usage, now);
  }

  count({ inputTokens, outputTokens, cacheWriteTokens, costUsd = 0 }: UsageRecord): void {
    // What a cache gave is not counted by providers either.
    this.#tokens.add(this.#now(), inputTokens + outputTokens + cacheWriteTokens);
    this.#spending?.add(costUsd);
  }

  async within(signal: AbortSignal, hasPrice: boolean, run: () => Promise<Answer>): Promise<Answer> {
    this.#checkTokens();
    const headers = await this.#checkBudget(hasPrice);
    const release = this.#take(signal);
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
    const wait = this.#tokens.waitFor(this.#now(), tpm);
    if (wait === 0) return;
    throw new GatewayError(
      'rate_limited',
      `The key "${name}" has used up its ${tpm} tokens a minute. Retry in ${wait} s.`,
      { retryAfter: wait, retryable: true },
    );
  }

  /** Nothing is awaited between check and count: two requests at once cannot both take the last place. */
  #take(signal: AbortSignal): () => void {
    const { name, max_streams: most } = this.#key;
    if (most !== undefined && this.#open >= most) {
      throw new GatewayError(
        'rate_limited',
        `The key "${name}" has ${most} answers open at once, which is its limit. Retry when one has ended.`,
        { retryAfter: 1, retryable: true },
      );
    }
    this.#open += 1;
    let isOpen = true;
    const release = (): void => {
      if (isOpen) this.#open -= 1;
      isOpen = false;
    };
    const stopListening = onAbort(signal, release);
    return () => {
      release();
      stopListening();
    };
  }

  /** Headers for the answer. */
  async #checkBudget(hasPrice: boolean): Promise<Record<string, string>> {
    const { name, budget } = this.#key;
    if (budget === undefined || this.#spending === undefined) return {};
    const resetAt = Math.ceil(endOf(budget.per, this.#now()) / 1000);
    let spent: number;
    try {
      if (!hasPrice) throw new UnknownPrice();
      spent = await this.#spending.sum();
    } catch (error) {
      if (budget.on_unknown === 'allow') return { 'x-toolgate-budget': 'unknown; allowed' };
      throw error instanceof UnknownPrice
        ? new GatewayError(
            'forbidden',
            `The model has no price, so that the budget of the key "${name}" cannot be counted. Give the model a price, or set on_unknown: allow with the budget.`,
          )
        : new GatewayError('unavailable', `The budget of the key "${name}" cannot be read just now.`, {
            retryAfter: 5,
            retryable: true,
            cause: error,
          });
    }
    if (spent >= budget.usd) {
      const retryAfter = Math.max(1, resetAt - Math.floor(this.#now() / 1000));
      throw new GatewayError(
        'billing',
        `The key "${name}" has spent its budget of ${budget.usd} USD a ${budget.per}. It begins anew at ${timeOf(resetAt)}.`,
        { status: 429, retryAfter, resetAt },
      );
    }
    return {
      'x-toolgate-budget': `${spent.toFixed(4)} of ${budget.usd} USD a ${budget.per}; resets ${timeOf(resetAt)}`,
      'anthropic-ratelimit-unified-status': spent >= budget.usd * WARN_AT ? 'allowed_warning' : 'allowed',
      'anthropic-ratelimit-unified-reset': String(resetAt),
    };
  }
}

class UnknownPrice extends Error {}

/** Dollars of one key in the current period; those of before this process began come from the store. */
class Spending {
  readonly #key: string;
  readonly #per: Period;
  readonly #usage: UsageStore;
  readonly #now: () => number;
  #from = -1;
  #before: Promise<number> | undefined;
  #since = 0;

  constructor(key: string, per: Period, usage: UsageStore, now: () => number) {
    this.#key = key;
    this.#per = per;
    this.#usage = usage;
    this.#now = now;
  }

  add(usd: number): void {
    this.#turnOver();
    // Before the first question the store has it.
    if (this.#before !== undefined) this.#since += usd;
  }

  /** Rejects where the store does not answer; the next question asks it again. */
  async sum(): Promise<number> {
    this.#turnOver();
    this.#before ??= this.#stored().catch((error: unknown) => {
      this.#before = undefined;
      throw error;
    });
    return (await this.#before) + this.#since;
  }

  async #stored(): Promise<number> {
    const to = this.#now() + 1;
    const principal = this.#key;
    const sums = await this.#usage.summarise({ from: this.#from, to, by: ['principal'], principal });
    return sums.reduce((sum, { costUsd }) => sum + costUsd, 0);
  }

  #turnOver(): void {
    const from = startOf(this.#per, this.#now());
    if (from === this.#from) return;
    this.#from = from;
    this.#before = undefined;
    this.#since = 0;
  }
}

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

const DAY_MS = 86_400_000;

/** Of the period that `now` is in, in UTC; weeks begin on Monday. */
function startOf(per: Period, now: number): number {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (per === 'month') return Date.UTC(year, month);
  return Date.UTC(year, month, per === 'day' ? day : day - ((date.getUTCDay() + 6) % 7));
}

function endOf(per: Period, now: number): number {
  const start = startOf(per, now);
  if (per === 'month') return Date.UTC(new Date(start).getUTCFullYear(), new Date(start).getUTCMonth() + 1);
  return start + DAY_MS * (per === 'day' ? 1 : 7);
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
