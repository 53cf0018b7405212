import { describe, expect, it } from 'vitest';
import type { Answer, ModelRequest } from '../../engines/engine.js';
import type { UsageQuery, UsageRecord, UsageStore, UsageSum } from '../../store/usage.js';
import type { Budget, SoftLimitPassed } from './budget.js';
import { KeyLimits, type LimitedKey } from './key-limits.js';
import { SPENDING_LIMITS } from './spending.js';

const MONDAY = Date.UTC(2026, 10, 16, 12);
const DAY = 86_400_000;

const answered = (): Promise<Answer> =>
  Promise.resolve({
    upstream: 'up',
    losses: [],
    headers: {},
    body: { kind: 'events', batches: (async function* () {})() },
  });

/** A store that several nodes share: rows are there as soon as they are recorded. */
class SharedRows implements UsageStore {
  readonly rows: { at: number; principal: string; team?: string; costUsd: number | undefined }[] = [];
  readonly asked: UsageQuery[] = [];
  /** Runs before a read is answered. */
  during: () => void = () => {};

  record(row: UsageRecord): void {
    const { at, principal, team, costUsd } = row;
    this.rows.push({ at, principal, ...(team !== undefined && { team }), costUsd });
  }

  async summarise(query: UsageQuery): Promise<UsageSum[]> {
    this.asked.push(query);
    this.during();
    const { from, to } = query;
    const inside = this.rows.filter(({ at }) => at >= from && at < to);
    const sums = new Map<string, { costUsd: number; unpriced: number }>();
    for (const { principal, team = '', costUsd } of inside) {
      const name = query.by.includes('team') ? team : principal;
      const sum = sums.get(name) ?? { costUsd: 0, unpriced: 0 };
      sum.costUsd += costUsd ?? 0;
      if (costUsd === undefined) sum.unpriced += 1;
      sums.set(name, sum);
    }
    const [by = 'principal'] = query.by;
    return [...sums].map(([name, sum]) => ({ group: { [by]: name }, ...sum }) as UsageSum);
  }
}

function limitsOf(key: Omit<LimitedKey, 'name'>, usage: UsageStore = new SharedRows()) {
  let now = MONDAY;
  const soft: SoftLimitPassed[] = [];
  let ticks = 0;
  const clock = { now: () => now, monotonic: () => ticks };
  const limits = new KeyLimits({ keys: [{ name: 'alice', ...key }] }, usage, {
    clock,
    onSoftLimit: (passed) => soft.push(passed),
  });
  const abort = new AbortController();
  const call = { principal: { name: 'alice' }, signal: abort.signal } as unknown as ModelRequest;
  const use = (tokens: number, costUsd?: number): void => {
    const row = {
      at: now,
      principal: 'alice',
      inputTokens: tokens,
      outputTokens: 0,
      cacheWriteTokens: 0,
      cacheReadTokens: 1e9,
      costUsd,
    } as unknown as UsageRecord;
    usage.record(row);
    limits.count(row);
  };
  return {
    soft,
    abort,
    use,
    pass: (ms: number) => {
      now += ms;
      ticks += ms;
    },
    /** Somebody sets the clock of the machine. */
    setClock: (ms: number) => {
      now += ms;
    },
    ask: (isAgent = false) => limits.within(call, { hasPrice: true, isAgent }, answered),
  };
}

describe('tokens a minute', () => {
  it('come back as the seconds in which they were used pass', async () => {
    const { ask, use, pass } = limitsOf({ tpm: 100 });
    use(60);
    pass(10_000);
    use(60);
    await expect(ask()).rejects.toMatchObject({ status: 429, retryAfter: 50 });
    pass(49_000);
    await expect(ask()).rejects.toMatchObject({ retryAfter: 1 });
    pass(1000);
    await expect(ask()).resolves.toMatchObject({ upstream: 'up' });
    use(1000);
    pass(3_600_000);
    await expect(ask()).resolves.toMatchObject({ upstream: 'up' });
  });
});

describe('a clock that is set', () => {
  it.each([-3_600_000, 3_600_000])('by %d ms makes the minute neither longer nor shorter', async (ms) => {
    const { ask, use, pass, setClock } = limitsOf({ tpm: 100 });
    use(100);
    setClock(ms);
    pass(10_000);
    await expect(ask()).rejects.toMatchObject({ retryAfter: 50 });
    setClock(-ms);
    pass(50_000);
    await expect(ask()).resolves.toMatchObject({ upstream: 'up' });
  });
});

describe('answers at once', () => {
  it('are freed once, however an answer ends', async () => {
    const { ask, abort } = limitsOf({ max_streams: 1 });
    const read = await ask();
    if (read.body.kind === 'events') for await (const _ of read.body.batches);
    const dropped = await ask();
    await expect(ask()).rejects.toMatchObject({ status: 429 });
    if (dropped.body.kind === 'events') await dropped.body.batches[Symbol.asyncIterator]().return?.();
    await ask();
    await expect(ask()).rejects.toMatchObject({ status: 429 });
    abort.abort();
    await ask();
  });

  it('are not passed by two requests that come together', async () => {
    const { ask } = limitsOf({ max_streams: 1, budget: { usd: 1, per: 'day', on_unknown: 'deny' } });
    const ends = await Promise.allSettled([ask(), ask()]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('agents at once', () => {
  it('have a limit of their own beside other answers', async () => {
    const { ask, abort } = limitsOf({ max_agents: 1, max_streams: 3 });
    await ask(true);
    await expect(ask(true)).rejects.toMatchObject({
      status: 429,
      message: 'The key "alice" has 1 agents open at once, which is its limit. Retry when one has ended.',
    });
    await ask();
    abort.abort();
    await ask(true);
  });
});

const TEN = { usd: 10, per: 'day', on_unknown: 'deny' } as const;

/** In dollars, by the header of an answer. */
async function spentBy(ask: () => Promise<Answer>): Promise<number> {
  return Number.parseFloat((await ask()).headers['x-toolgate-budget'] ?? '');
}

describe('a budget', () => {
  it.each([
    ['day', DAY / 2],
    ['week', DAY * 6.5],
    ['month', DAY * 14.5],
  ] as const)('of a %s begins anew at its end', async (per, untilEnd) => {
    const { ask, use, pass } = limitsOf({ budget: { usd: 10, per, on_unknown: 'deny' } });
    await ask();
    use(0, 10);
    await expect(ask()).rejects.toMatchObject({
      status: 429,
      retryAfter: untilEnd / 1000,
      resetAt: (MONDAY + untilEnd) / 1000,
    });
    pass(untilEnd - 1);
    await expect(ask()).rejects.toMatchObject({ status: 429 });
    pass(1);
    await ask();
  });

  it('is counted together with what the store has of this period', async () => {
    const store = new SharedRows();
    store.rows.push({ at: MONDAY - 1, principal: 'alice', costUsd: 6 });
    store.rows.push({ at: MONDAY - DAY, principal: 'alice', costUsd: 100 });
    store.rows.push({ at: MONDAY - 1, principal: 'bob', costUsd: 100 });
    const { ask, use } = limitsOf({ budget: TEN }, store);
    await ask();
    use(0, 3);
    await ask();
    use(0, 1);
    await expect(ask()).rejects.toMatchObject({ status: 429 });
  });

  it('counts an answer once that ends while the store is read for the first time', async () => {
    const store = new SharedRows();
    const { ask, use, pass } = limitsOf({ budget: TEN }, store);
    store.during = () => {
      store.during = () => {};
      use(0, 6);
    };
    await ask();
    expect(await spentBy(ask)).toBe(6);
    pass(SPENDING_LIMITS.rereadSoonMs);
    expect(await spentBy(ask)).toBe(6);
    pass(SPENDING_LIMITS.rereadMs);
    expect(await spentBy(ask)).toBe(6);
  });

  it('counts an answer once that the read had missed, after a second', async () => {
    const store = new SharedRows();
    const { ask, use, pass } = limitsOf({ budget: TEN }, store);
    const { summarise } = store;
    let isFirst = true;
    store.summarise = async (query) => {
      const sums = await summarise.call(store, query);
      if (isFirst && query.to > MONDAY) use(0, 6);
      if (query.to > MONDAY) isFirst = false;
      return sums;
    };
    await ask();
    pass(SPENDING_LIMITS.rereadSoonMs);
    expect(await spentBy(ask)).toBe(6);
  });

  it('is passed on two nodes by no more than what they counted since they last looked', async () => {
    const store = new SharedRows();
    const nodes = [limitsOf({ budget: TEN }, store), limitsOf({ budget: TEN }, store)];
    const [one, two] = nodes;
    if (one === undefined || two === undefined) throw new Error('two nodes');
    await one.ask();
    await two.ask();
    one.use(0, 10);
    await expect(one.ask()).rejects.toMatchObject({ status: 429 });
    for (const node of nodes) node.pass(SPENDING_LIMITS.rereadMs - 1);
    await two.ask();
    for (const node of nodes) node.pass(1);
    await expect(two.ask()).rejects.toMatchObject({ status: 429 });
  });

  it('reads the store once for all keys and requests in a few seconds', async () => {
    const store = new SharedRows();
    const { ask, use, pass } = limitsOf({ budget: TEN }, store);
    await Promise.all(Array.from({ length: 50 }, () => ask()));
    const first = store.asked.length;
    expect(first).toBe(2);
    for (let i = 0; i < 50; i++) {
      use(0, 0.01);
      await ask();
    }
    expect(store.asked).toHaveLength(first);
    pass(SPENDING_LIMITS.rereadMs);
    await ask();
    // What is older than an hour is not read again.
    expect(store.asked).toHaveLength(first + 1);
    expect(store.asked.at(-1)?.from).toBeGreaterThan(MONDAY - DAY / 2);
  });

  it('says with the answer, and once a period to whoever watches, that its soft limit is passed', async () => {
    const { ask, use, pass, soft } = limitsOf({ budget: { ...TEN, soft_usd: 4 } });
    expect((await ask()).headers['x-toolgate-budget']).not.toContain('soft');
    use(0, 5);
    for (let i = 0; i < 3; i++) {
      expect((await ask()).headers).toMatchObject({
        'x-toolgate-budget': expect.stringContaining('5.0000 of 10 USD a day; above its soft limit of 4 USD'),
        'anthropic-ratelimit-unified-status': 'allowed_warning',
      });
    }
    expect(soft).toMatchObject([{ key: 'alice', spentUsd: 5, softUsd: 4, usd: 10, per: 'day' }]);
    pass(DAY);
    await ask();
    use(0, 5);
    await ask();
    expect(soft).toHaveLength(2);
  });

  it('says that more was spent where answers had no price, counted here or on another node', async () => {
    const shared = new SharedRows();
    const limits = { budget: { usd: 10, per: 'day', on_unknown: 'allow' } } as const;
    const [here, other] = [limitsOf(limits, shared), limitsOf(limits, shared)];
    const shown = async ({ ask }: typeof here) => (await ask()).headers['x-toolgate-budget'];
    here.use(0, 2);
    expect(await shown(here)).toMatch(/^2\.0000 of 10 USD a day;/);
    here.use(5);
    expect(await shown(here)).toMatch(/^at least 2\.0000 of 10 USD a day;/);
    expect(await shown(other)).toMatch(/^at least 2\.0000 of 10 USD a day;/);
    for (const { pass } of [here, other]) pass(DAY);
    expect(await shown(here)).toMatch(/^0\.0000 of 10 USD a day;/);
  });

  it('that cannot be read is denied or allowed as the key says, and read again', async () => {
    let isThere = false;
    const stored: UsageStore = {
      record: () => {},
      summarise: async () => {
        if (isThere) return [{ group: { principal: 'alice' }, costUsd: 11 } as UsageSum];
        throw new Error('gone');
      },
    };
    const strict = limitsOf({ budget: { usd: 10, per: 'day', on_unknown: 'deny' } }, stored);
    await expect(strict.ask()).rejects.toMatchObject({ status: 503, retryAfter: 5 });
    const lenient = limitsOf({ budget: { usd: 10, per: 'day', on_unknown: 'allow' } }, stored);
    expect((await lenient.ask()).headers).toEqual({ 'x-toolgate-budget': 'unknown; allowed' });
    isThere = true;
    await expect(lenient.ask()).rejects.toMatchObject({ status: 429 });
  });
});

describe('the budget of a team', () => {
  const row = (principal: string, team: string | undefined, costUsd: number): UsageRecord => ({
    ...{ at: MONDAY, principal, model: 'm', upstream: 'up', status: 200, latencyMs: 1, costUsd },
    ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    ...(team !== undefined && { team }),
  });
  const KEYS: LimitedKey[] = [
    { name: 'alice', team: 'web', budget: { ...TEN, usd: 100 } },
    { name: 'bob', team: 'web' },
    { name: 'carol', team: 'other' },
  ];

  function node(store: SharedRows, budget: Budget = TEN) {
    let ticks = 0;
    const soft: SoftLimitPassed[] = [];
    const clock = { now: () => MONDAY + ticks, monotonic: () => ticks };
    const limits = new KeyLimits({ keys: KEYS, teams: { web: { budget } } }, store, {
      clock,
      onSoftLimit: (passed) => soft.push(passed),
    });
    const { signal } = new AbortController();
    return {
      limits,
      soft,
      pass: (ms: number) => {
        ticks += ms;
      },
      use: (name: string, team: string | undefined, usd: number) => {
        store.record(row(name, team, usd));
        limits.count(row(name, team, usd));
      },
      ask: (name: string, hasPrice = true) => {
        const principal = { name, scopes: [], models: [] };
        return limits.within({ principal, signal }, { hasPrice }, answered);
      },
    };
  }

  it('is shared by its keys, beside their own, and by no other', async () => {
    const { ask, use, limits } = node(new SharedRows());
    const { headers } = await ask('alice');
    expect(headers['x-toolgate-budget']).toMatch(/^0\.0000 of 100 USD a day;/);
    expect(headers['x-toolgate-team-budget']).toMatch(/^0\.0000 of 10 USD a day;/);
    use('alice', 'web', 4);
    expect((await ask('bob')).headers).toEqual({
      'x-toolgate-team-budget': '4.0000 of 10 USD a day; resets 2026-11-17T00:00:00Z',
      'anthropic-ratelimit-unified-status': 'allowed',
      'anthropic-ratelimit-unified-reset': String((MONDAY + DAY / 2) / 1000),
      'anthropic-ratelimit-unified-representative-claim': 'overage',
      'anthropic-ratelimit-unified-overage-status': 'allowed',
      'anthropic-ratelimit-unified-overage-reset': String((MONDAY + DAY / 2) / 1000),
      'anthropic-ratelimit-unified-overage-utilization': '0.40',
    });
    use('bob', 'web', 6);
    for (const name of ['alice', 'bob']) {
      await expect(ask(name)).rejects.toMatchObject({
        status: 429,
        code: 'billing',
        retryAfter: DAY / 2000,
        message:
          'The team "web" has spent its budget of 10 USD a day. It begins anew at 2026-11-17T00:00:00Z.',
      });
    }
    expect((await ask('carol')).headers).toEqual({});
    expect([limits.meters('bob'), limits.meters('carol')]).toEqual([true, false]);
  });

  it('counts what was spent for it, whatever team the key has had before', async () => {
    const store = new SharedRows();
    store.record(row('bob', 'other', 50));
    store.record(row('bob', undefined, 50));
    store.record(row('gone', 'web', 9));
    const { ask, use } = node(store);
    expect((await ask('bob')).headers['x-toolgate-team-budget']).toMatch(/^9\.0000 of 10 USD/);
    use('bob', 'web', 1);
    await expect(ask('alice')).rejects.toMatchObject({ status: 429 });
  });

  it('is counted on all nodes together', async () => {
    const store = new SharedRows();
    const [one, two] = [node(store), node(store)];
    await two.ask('bob');
    one.use('alice', 'web', 10);
    await two.ask('bob');
    two.pass(SPENDING_LIMITS.rereadMs);
    await expect(two.ask('bob')).rejects.toMatchObject({ status: 429 });
  });

  it('has a soft limit, which is told once with the key that passed it', async () => {
    const { ask, use, soft } = node(new SharedRows(), { ...TEN, soft_usd: 2 });
    await ask('bob');
    use('alice', 'web', 3);
    for (const name of ['bob', 'alice']) {
      expect((await ask(name)).headers).toMatchObject({
        'x-toolgate-team-budget': expect.stringContaining('above its soft limit of 2 USD'),
        'anthropic-ratelimit-unified-status': 'allowed_warning',
        'anthropic-ratelimit-unified-overage-utilization': '0.30',
      });
    }
    expect(soft).toMatchObject([{ key: 'bob', team: 'web', spentUsd: 3, softUsd: 2 }]);
  });

  it('of a model without a price is denied or allowed as the team says', async () => {
    const strict = node(new SharedRows());
    await expect(strict.ask('bob', false)).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('the budget of the team "web" cannot be counted'),
    });
    const lenient = node(new SharedRows(), { ...TEN, on_unknown: 'allow' });
    expect((await lenient.ask('bob', false)).headers).toEqual({
      'x-toolgate-team-budget': 'unknown; allowed',
    });
  });

  it('comes, changes and goes while what was spent goes on counting', async () => {
    const { ask, use, limits } = node(new SharedRows());
    await ask('bob');
    use('bob', 'web', 10);
    await expect(ask('bob')).rejects.toMatchObject({ status: 429 });
    limits.use(KEYS, { web: { budget: { ...TEN, usd: 11 } } });
    expect((await ask('bob')).headers['x-toolgate-team-budget']).toMatch(/^10\.0000 of 11 USD/);
    limits.use(KEYS);
    expect((await ask('bob')).headers).toEqual({});
    limits.use(KEYS, { web: { budget: TEN } });
    await expect(ask('bob')).rejects.toMatchObject({ status: 429 });
  });
});
