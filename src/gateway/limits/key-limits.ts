/**
 * What a key may use besides requests a minute: tokens a minute, answers at once, and money a day, week
 * or month, its own and that of its team. Checked before an engine is asked; what has begun is finished,
 * so a limit is passed by no more than the answers that were open when it was reached.
 */
import { GatewayError } from '../../core/errors.js';
import { onAbort } from '../../core/stopping.js';
import type { Answer, ModelRequest } from '../../engines/engine.js';
import type { UsageRecord, UsageStore } from '../../store/usage.js';
import { type Budget, BudgetMeter, budgetHeaders, type SoftLimitPassed } from './budget.js';
import { type Clock, Spending } from './spending.js';

export interface LimitedKey {
  name: string;
  team?: string;
  tpm?: number;
  max_streams?: number;
  max_agents?: number;
  budget?: Budget;
}

/** Of teams, by their names. A team that is not among them has no limit. */
type LimitedTeams = Readonly<Record<string, { budget?: Budget }>>;

/** What is asked for, as far as limits differ by it. */
export interface Asked {
  hasPrice: boolean;
  isAgent?: boolean;
}

const CLOCK: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** What is checked before it begins. */
type Metered = Pick<ModelRequest, 'principal' | 'signal'>;

export class KeyLimits {
  readonly #clock: Clock;
  readonly #spending: { readonly key: Spending; readonly team: Spending };
  readonly #onSoftLimit: (passed: SoftLimitPassed) => void;
  #keys = new Map<string, KeyMeter>();
  #teams = new Map<string, BudgetMeter>();

  constructor(
    limited: { keys: readonly LimitedKey[]; teams?: LimitedTeams },
    usage: UsageStore,
    clock: Clock = CLOCK,
    onSoftLimit: (passed: SoftLimitPassed) => void = () => {},
  ) {
    this.#clock = clock;
    this.#spending = {
      key: new Spending(usage, clock, 'principal'),
      team: new Spending(usage, clock, 'team'),
    };
    this.#onSoftLimit = onSoftLimit;
    this.use(limited.keys, limited.teams);
  }

  /** Replaces the limits. What a key or a team has used so far, and open answers, still count. */
  use(keys: readonly LimitedKey[], teams: LimitedTeams = {}): void {
    const before = this.#keys;
    const teamsBefore = this.#teams;
    this.#teams = new Map();
    for (const [name, { budget }] of Object.entries(teams)) {
      if (budget === undefined) continue;
      const meter = teamsBefore.get(name) ?? this.#budgetOf('team', name);
      meter.limit(budget);
      this.#teams.set(name, meter);
    }
    this.#keys = new Map();
    for (const key of keys) {
      const { tpm, max_streams, max_agents, budget } = key;
      const team = key.team === undefined ? undefined : this.#teams.get(key.team);
      const isLimited = [tpm, max_streams, max_agents, budget, team].some((limit) => limit !== undefined);
      const meter =
        before.get(key.name) ??
        (isLimited ? new KeyMeter(key, this.#budgetOf('key', key.name), this.#clock) : undefined);
      meter?.limit(key, team);
      if (meter !== undefined) this.#keys.set(key.name, meter);
    }
  }

  /** What an answer has used, once it has ended. */
  count(row: UsageRecord): void {
    this.#spending.key.add(row.principal, row.costUsd ?? 0);
    if (row.team !== undefined) this.#spending.team.add(row.team, row.costUsd ?? 0);
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

  #budgetOf(kind: 'key' | 'team', name: string): BudgetMeter {
    const shared = { clock: this.#clock, onSoftLimit: this.#onSoftLimit };
    return new BudgetMeter({ kind, name }, { ...shared, spending: this.#spending[kind] });
  }
}

class KeyMeter {
  #key: LimitedKey;
  readonly #budget: BudgetMeter;
  /** Shared with the other keys of its team. */
  #teamBudget: BudgetMeter | undefined;
  readonly #clock: Clock;
  readonly #tokens = new MinuteWindow();
  readonly #open = { streams: 0, agents: 0 };

  constructor(key: LimitedKey, budget: BudgetMeter, clock: Clock) {
    this.#key = key;
    this.#budget = budget;
    this.#clock = clock;
  }

  limit(key: LimitedKey, teamBudget: BudgetMeter | undefined): void {
    this.#key = key;
    this.#budget.limit(key.budget);
    this.#teamBudget = teamBudget;
  }

  count({ inputTokens, outputTokens, cacheWriteTokens }: UsageRecord): void {
    // What a cache gave is not counted by providers either.
    this.#tokens.add(this.#clock.monotonic(), inputTokens + outputTokens + cacheWriteTokens);
  }

  get isMetered(): boolean {
    return this.#key.tpm !== undefined || this.#budget.isLimited || this.#teamBudget !== undefined;
  }

  /** Headers for the answer. */
  async check({ hasPrice }: Asked): Promise<Record<string, string>> {
    this.#checkTokens();
    const { name } = this.#key;
    const own = await this.#budget.check(name, hasPrice);
    const shared = await this.#teamBudget?.check(name, hasPrice);
    return budgetHeaders([own, shared].filter((standing) => standing !== undefined));
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
}

function full(key: string, most: number, what: 'answers' | 'agents'): GatewayError {
  return new GatewayError(
    'rate_limited',
    `The key "${key}" has ${most} ${what} open at once, which is its limit. Retry when one has ended.`,
    { retryAfter: 1, retryable: true },
  );
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
