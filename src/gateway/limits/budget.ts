/** Money a day, week or month: of a key, or of a team, whose keys share it. */
import { BUDGET_UNKNOWN, GatewayError } from '../../core/errors.js';
import { type Clock, endOf, type Period, type Spending, type Spent } from './spending.js';

export interface Budget {
  usd: number;
  /** Above it answers carry a warning, and a soft limit event is sent once a period. */
  soft_usd?: number;
  per: Period;
  /** Of a model without a price, and while the store cannot be asked. */
  on_unknown: 'allow' | 'deny';
}

/** A key, or the team that it belongs to, has passed the soft limit of its budget. */
export interface SoftLimitPassed {
  /** Whose request found it. */
  key: string;
  /** Set where it is the budget of the team. */
  team?: string;
  spentUsd: number;
  softUsd: number;
  usd: number;
  per: Period;
  /** Seconds of Unix time. */
  resetAt: number;
}

/** How a budget stands that is not used up. */
export interface Standing {
  header: string;
  value: string;
  /** Undefined where the spending is unknown. */
  used?: { share: number; isSoft: boolean; resetAt: number };
}

interface Holder {
  kind: 'key' | 'team';
  name: string;
}

const HEADERS: Readonly<Record<Holder['kind'], string>> = {
  key: 'x-toolgate-budget',
  team: 'x-toolgate-team-budget',
};

interface BudgetOptions {
  spending: Spending;
  clock: Clock;
  onSoftLimit: (passed: SoftLimitPassed) => void;
}

export class BudgetMeter {
  readonly #holder: Holder;
  readonly #options: BudgetOptions;
  #budget: Budget | undefined;
  /** End of the period whose event was sent. */
  #sentUntil = 0;

  constructor(holder: Holder, options: BudgetOptions) {
    this.#holder = holder;
    this.#options = options;
  }

  limit(budget: Budget | undefined): void {
    this.#budget = budget;
  }

  get isLimited(): boolean {
    return this.#budget !== undefined;
  }

  /** Rejects where it is used up, or unknown and denied then; undefined where there is none. */
  async check(key: string, hasPrice: boolean): Promise<Standing | undefined> {
    const budget = this.#budget;
    if (budget === undefined) return undefined;
    const { spending, clock } = this.#options;
    const { kind, name } = this.#holder;
    const header = HEADERS[kind];
    const resetAt = Math.ceil(endOf(budget.per, clock.now()) / 1000);
    let known: Spent;
    try {
      if (!hasPrice) throw new UnknownPrice();
      known = await spending.of(name, budget.per);
    } catch (error) {
      if (budget.on_unknown === 'allow') return { header, value: 'unknown; allowed' };
      throw this.#unknown(error);
    }
    const spent = known.usd;
    if (spent >= budget.usd) {
      const retryAfter = Math.max(1, resetAt - Math.floor(clock.now() / 1000));
      throw new GatewayError(
        'billing',
        `The ${kind} "${name}" has spent its budget of ${budget.usd} USD a ${budget.per}. It begins anew at ${timeOf(resetAt)}.`,
        { status: 429, retryAfter, resetAt },
      );
    }
    const isSoft = budget.soft_usd !== undefined && spent >= budget.soft_usd;
    if (isSoft) this.#sendSoft(key, budget, spent, resetAt);
    const soft = isSoft ? `; above its soft limit of ${budget.soft_usd} USD` : '';
    return {
      header,
      value: `${known.isPartial ? 'at least ' : ''}${spent.toFixed(4)} of ${budget.usd} USD a ${budget.per}${soft}; resets ${timeOf(resetAt)}`,
      used: { share: spent / budget.usd, isSoft, resetAt },
    };
  }

  #unknown(error: unknown): GatewayError {
    const { kind, name } = this.#holder;
    return error instanceof UnknownPrice
      ? new GatewayError(
          'forbidden',
          `The model has no price, so that the budget of the ${kind} "${name}" cannot be counted. Give the model a price, or set on_unknown: allow with the budget.`,
          { detail: BUDGET_UNKNOWN },
        )
      : new GatewayError('unavailable', `The budget of the ${kind} "${name}" cannot be read just now.`, {
          retryAfter: 5,
          retryable: true,
          detail: BUDGET_UNKNOWN,
          cause: error,
        });
  }

  /** Once a period. */
  #sendSoft(
    key: string,
    { soft_usd: softUsd = 0, usd, per }: Budget,
    spentUsd: number,
    resetAt: number,
  ): void {
    if (this.#sentUntil === resetAt) return;
    this.#sentUntil = resetAt;
    const { kind, name } = this.#holder;
    const team = kind === 'team' ? { team: name } : {};
    this.#options.onSoftLimit({ key, ...team, spentUsd, softUsd, usd, per, resetAt });
  }
}

/** From these shares of a budget on the answers carry a warning, which Claude Code shows its user. */
const WARN_AT = [0.95, 0.75];

/** What an answer says of the budgets that it counts for. */
export function budgetHeaders(standings: readonly Standing[]): Record<string, string> {
  const used = standings.flatMap((standing) => standing.used ?? []);
  // There is room for one of them: that which ends first.
  const [tightest] = used.toSorted((a, b) => Number(b.isSoft) - Number(a.isSoft) || b.share - a.share);
  return {
    ...Object.fromEntries(standings.map(({ header, value }) => [header, value])),
    ...(tightest === undefined ? {} : unified(tightest)),
  };
}

/** How much of it is used, in the headers that Claude Code reads. `overage`: of a calendar, not of the last hours. */
function unified({ share, isSoft, resetAt }: NonNullable<Standing['used']>): Record<string, string> {
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

const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000', '');
