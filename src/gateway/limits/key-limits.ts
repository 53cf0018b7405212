/**
 * What a key may use besides requests a minute: tokens a minute, answers at once, and money a day, week
 * or month, its own and that of its team, which may limit requests as well. Checked before an engine is asked; what has begun is finished,
 * so a limit is passed by no more than the answers that were open when it was reached.
 */
import type { LimitClaims } from '../../cluster/limit-claims.js';
import { onAbort } from '../../core/stopping.js';
import type { Answer, ModelRequest } from '../../engines/engine.js';
import type { UsageRecord, UsageStore } from '../../store/usage.js';
import { type Budget, BudgetMeter, budgetHeaders, type SoftLimitPassed } from './budget.js';
import { type HolderLimits, HolderMeter } from './holder-meter.js';
import { type Clock, Spending } from './spending.js';

export interface LimitedKey {
  name: string;
  team?: string;
  tpm?: number;
  max_streams?: number;
  max_agents?: number;
  budget?: Budget;
}

/** What its keys share. */
interface LimitedTeam extends HolderLimits {
  budget?: Budget;
}

/** By their names. A team that is not among them has no limit. */
type LimitedTeams = Readonly<Record<string, LimitedTeam>>;

/** What is asked for, as far as limits differ by it. */
export interface Asked {
  hasPrice: boolean;
  isAgent?: boolean;
}

const CLOCK: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

interface KeyLimitsOptions {
  clock?: Clock;
  onSoftLimit?: (passed: SoftLimitPassed) => void;
  /** Where other nodes share the limits. */
  claims?: LimitClaims | undefined;
}

/** What is checked before it begins. */
type Metered = Pick<ModelRequest, 'principal' | 'signal'>;

export class KeyLimits {
  readonly #clock: Clock;
  readonly #spending: { readonly key: Spending; readonly team: Spending };
  readonly #onSoftLimit: (passed: SoftLimitPassed) => void;
  readonly #claims: LimitClaims | undefined;
  #keys = new Map<string, KeyMeter>();
  #teams = new Map<string, MeterParts>();

  constructor(
    limited: { keys: readonly LimitedKey[]; teams?: LimitedTeams },
    usage: UsageStore,
    { clock = CLOCK, onSoftLimit = () => {}, claims }: KeyLimitsOptions = {},
  ) {
    this.#clock = clock;
    this.#spending = {
      key: new Spending(usage, clock, 'principal'),
      team: new Spending(usage, clock, 'team'),
    };
    this.#onSoftLimit = onSoftLimit;
    this.#claims = claims;
    this.use(limited.keys, limited.teams);
  }

  /** Replaces the limits. What a key or a team has used so far, and open answers, still count. */
  use(keys: readonly LimitedKey[], teams: LimitedTeams = {}): void {
    const before = this.#keys;
    const teamsBefore = this.#teams;
    this.#teams = new Map();
    for (const [name, { budget, ...limits }] of Object.entries(teams)) {
      const meter = teamsBefore.get(name) ?? this.#partsOf('team', name);
      meter.budget.limit(budget);
      meter.used.limit(limits);
      this.#teams.set(name, meter);
    }
    this.#keys = new Map();
    for (const key of keys) {
      const { tpm, max_streams, max_agents, budget } = key;
      const team = key.team === undefined ? undefined : this.#teams.get(key.team);
      const isLimited = [tpm, max_streams, max_agents, budget, team].some((limit) => limit !== undefined);
      const meter =
        before.get(key.name) ??
        (isLimited ? new KeyMeter(key.name, this.#partsOf('key', key.name)) : undefined);
      meter?.limit(key, team);
      if (meter !== undefined) this.#keys.set(key.name, meter);
    }
  }

  /** What an answer has used, once it has ended. */
  count(row: UsageRecord): void {
    this.#spending.key.add(row.principal, row.costUsd);
    if (row.team !== undefined) this.#spending.team.add(row.team, row.costUsd);
    this.#keys.get(row.principal)?.count(row);
    if (row.team !== undefined) this.#teams.get(row.team)?.used.count(row);
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
  async within(call: Metered, asked: Asked, run: () => Promise<Answer>): Promise<Answer> {
    const meter = this.#keys.get(call.principal.name);
    if (meter === undefined) return run();
    const answer = await meter.within(call.signal, asked, run);
    if (this.#claims?.isAway !== true) return answer;
    return { ...answer, headers: { ...answer.headers, ...COUNTED_ALONE } };
  }

  #partsOf(kind: 'key' | 'team', name: string): MeterParts {
    const shared = { clock: this.#clock, onSoftLimit: this.#onSoftLimit };
    return {
      budget: new BudgetMeter({ kind, name }, { ...shared, spending: this.#spending[kind] }),
      used: new HolderMeter({ kind, name }, { now: () => this.#clock.monotonic(), claims: this.#claims }),
    };
  }
}

/** The store is away, which has the use of the other nodes. */
const COUNTED_ALONE = { 'x-toolgate-limits': 'unknown; counted by this node alone' };

interface MeterParts {
  budget: BudgetMeter;
  used: HolderMeter;
}

class KeyMeter {
  readonly #name: string;
  readonly #own: MeterParts;
  /** Shared with the other keys of its team. */
  #team: MeterParts | undefined;
  #hasBudget = false;

  constructor(name: string, own: MeterParts) {
    this.#name = name;
    this.#own = own;
  }

  limit(key: LimitedKey, team: MeterParts | undefined): void {
    const { tpm, max_streams, max_agents } = key;
    this.#own.used.limit({
      ...(tpm !== undefined && { tpm }),
      ...(max_streams !== undefined && { max_streams }),
      ...(max_agents !== undefined && { max_agents }),
    });
    this.#own.budget.limit(key.budget);
    this.#hasBudget = key.budget !== undefined;
    this.#team = team;
  }

  count(row: UsageRecord): void {
    this.#own.used.count(row);
  }

  get isMetered(): boolean {
    return (
      this.#own.used.countsTokens ||
      this.#hasBudget ||
      this.#team?.budget.isLimited === true ||
      this.#team?.used.countsTokens === true
    );
  }

  /** Headers for the answer. */
  async check({ hasPrice }: Asked): Promise<Record<string, string>> {
    for (const { used } of this.#parts) await used.checkTokens();
    const own = await this.#own.budget.check(this.#name, hasPrice);
    const shared = await this.#team?.budget.check(this.#name, hasPrice);
    return budgetHeaders([own, shared].filter((standing) => standing !== undefined));
  }

  async within(signal: AbortSignal, asked: Asked, run: () => Promise<Answer>): Promise<Answer> {
    const headers = await this.check(asked);
    const release = await this.#take(signal, asked.isAgent === true);
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

  async #take(signal: AbortSignal, isAgent: boolean): Promise<() => void> {
    const taken: (() => void)[] = [];
    const release = () => {
      for (const each of taken.splice(0)) each();
    };
    try {
      for (const { used } of this.#parts) taken.push(await used.take(isAgent));
    } catch (error) {
      release();
      throw error;
    }
    const stopListening = onAbort(signal, release);
    return () => {
      release();
      stopListening();
    };
  }

  get #parts(): readonly MeterParts[] {
    return this.#team === undefined ? [this.#own] : [this.#own, this.#team];
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
