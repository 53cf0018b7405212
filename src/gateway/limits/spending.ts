/**
 * What keys or teams have spent in a period, on all nodes that share the store. Read from the store every few seconds,
 * once for all of them; what this node counts in between is added. So a node knows what another has counted
 * within `rereadMs` and the time that the other keeps rows back (one second).
 */
import type { UsageStore } from '../../store/usage.js';

/** `isPartial`: some answers had no known price, so that more was spent. */
export interface Spent {
  usd: number;
  isPartial: boolean;
}

const NOTHING: Spent = { usd: 0, isPartial: false };

const plus = (a: Spent, b: Spent): Spent => ({
  usd: a.usd + b.usd,
  isPartial: a.isPartial || b.isPartial,
});

/** Whose rows are added up. */
type Spender = 'principal' | 'team';

export type Period = 'day' | 'week' | 'month';

/** In milliseconds. A budget goes by the calendar; a minute must not last longer because a clock was set. */
export interface Clock {
  now(): number;
  monotonic(): number;
}

export const SPENDING_LIMITS = {
  rereadMs: 5_000,
  /** After a read during which this node counted something: that may or may not be in it. */
  rereadSoonMs: 1_000,
  /** Rows stand at the time their request came: those older than this are read less often… */
  tailMs: 3_600_000,
  /** …so often, for answers that took longer. */
  rebaseMs: 3_600_000,
} as const;

export class Spending {
  readonly #usage: UsageStore;
  readonly #clock: Clock;
  readonly #by: Spender;
  readonly #periods = new Map<Period, PeriodSums>();

  constructor(usage: UsageStore, clock: Clock, by: Spender) {
    this.#usage = usage;
    this.#clock = clock;
    this.#by = by;
  }

  /** What an answer of this node cost, undefined where nobody knows; the store has its row already, or will in a moment. */
  add(name: string, usd: number | undefined): void {
    const spent = { usd: usd ?? 0, isPartial: usd === undefined };
    for (const period of this.#periods.values()) period.add(name, spent);
  }

  /** Rejects where the store does not answer; the next question asks it again. */
  of(name: string, per: Period): Promise<Spent> {
    const sums = this.#periods.get(per) ?? new PeriodSums(per, this.#usage, this.#clock, this.#by);
    this.#periods.set(per, sums);
    return sums.of(name);
  }
}

type Sums = ReadonlyMap<string, Spent>;

interface Read {
  /** Sums of what came before `tailFrom`, and since. */
  base: Sums;
  tail: Sums;
  tailFrom: number;
  basedAt: number;
  at: number;
}

class PeriodSums {
  readonly #per: Period;
  readonly #usage: UsageStore;
  readonly #clock: Clock;
  readonly #by: Spender;
  #from = -1;
  #read: Read | undefined;
  #reading: Promise<void> | undefined;
  /** Counted here since the last read began. */
  #own = new Map<string, Spent>();
  #isSoon = false;

  constructor(per: Period, usage: UsageStore, clock: Clock, by: Spender) {
    this.#per = per;
    this.#by = by;
    this.#usage = usage;
    this.#clock = clock;
  }

  add(name: string, spent: Spent): void {
    this.#own.set(name, plus(this.#own.get(name) ?? NOTHING, spent));
  }

  async of(name: string): Promise<Spent> {
    this.#turnOver();
    if (!this.#isFresh()) {
      this.#reading ??= this.#reread().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    const parts = [this.#read?.base, this.#read?.tail, this.#own];
    return parts.map((sums) => sums?.get(name) ?? NOTHING).reduce(plus);
  }

  #isFresh(): boolean {
    if (this.#read === undefined) return false;
    const { rereadMs, rereadSoonMs } = SPENDING_LIMITS;
    return this.#clock.monotonic() - this.#read.at < (this.#isSoon ? rereadSoonMs : rereadMs);
  }

  async #reread(): Promise<void> {
    const { tailMs, rebaseMs } = SPENDING_LIMITS;
    const from = this.#from;
    const at = this.#clock.monotonic();
    const to = this.#clock.now() + 1;
    const known = this.#read !== undefined && at - this.#read.basedAt < rebaseMs ? this.#read : undefined;
    const tailFrom = known?.tailFrom ?? Math.max(from, to - tailMs);
    const before = this.#own;
    this.#own = new Map();
    try {
      const base = known?.base ?? (await this.#sum(from, tailFrom));
      const tail = await this.#sum(tailFrom, to);
      if (from !== this.#from) return;
      // What was counted meanwhile is in the rows that were read, or will be with the next look.
      this.#isSoon = this.#own.size > 0;
      this.#own = new Map();
      this.#read = { base, tail, tailFrom, basedAt: known?.basedAt ?? at, at };
    } catch (error) {
      for (const [name, spent] of before) this.add(name, spent);
      throw error;
    }
  }

  async #sum(from: number, to: number): Promise<Sums> {
    if (to <= from) return new Map();
    const sums = await this.#usage.summarise({ from, to, by: [this.#by] });
    return new Map(
      sums.map(({ group, costUsd, unpriced }) => [
        group[this.#by] ?? '',
        { usd: costUsd, isPartial: unpriced > 0 },
      ]),
    );
  }

  #turnOver(): void {
    const from = startOf(this.#per, this.#clock.now());
    if (from === this.#from) return;
    this.#from = from;
    this.#read = undefined;
    this.#own = new Map();
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

export function endOf(per: Period, now: number): number {
  const start = startOf(per, now);
  if (per === 'month') return Date.UTC(new Date(start).getUTCFullYear(), new Date(start).getUTCMonth() + 1);
  return start + DAY_MS * (per === 'day' ? 1 : 7);
}
