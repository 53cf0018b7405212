import { describe, expect, it } from 'vitest';
import type { Answer, ModelRequest } from '../engines/engine.js';
import type { UsageRecord, UsageStore } from '../store/usage.js';
import { KeyLimits, type LimitedKey } from './key-limits.js';

const MONDAY = Date.UTC(2026, 10, 16, 12);
const DAY = 86_400_000;

const answered = (): Promise<Answer> =>
  Promise.resolve({
    upstream: 'up',
    losses: [],
    headers: {},
    body: { kind: 'events', batches: (async function* () {})() },
  });

function limitsOf(key: Omit<LimitedKey, 'name'>, stored: UsageStore['summarise'] = async () => []) {
  let now = MONDAY;
  const usage: UsageStore = { record: () => {}, summarise: stored };
  const limits = new KeyLimits([{ name: 'alice', ...key }], usage, () => now);
  const abort = new AbortController();
  const call = { principal: { name: 'alice' }, signal: abort.signal } as unknown as ModelRequest;
  const use = (tokens: number, costUsd = 0): void =>
    limits.count({
      principal: 'alice',
      inputTokens: tokens,
      outputTokens: 0,
      cacheWriteTokens: 0,
      cacheReadTokens: 1e9,
      costUsd,
    } as unknown as UsageRecord);
  return {
    abort,
    use,
    pass: (ms: number) => {
      now += ms;
    },
    ask: () => limits.within(call, true, answered),
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
    const asked: object[] = [];
    const { ask, use } = limitsOf({ budget: { usd: 10, per: 'day', on_unknown: 'deny' } }, async (query) => {
      asked.push(query);
      return [{ costUsd: 6 }] as never;
    });
    await ask();
    use(0, 3);
    await ask();
    use(0, 1);
    await expect(ask()).rejects.toMatchObject({ status: 429 });
    expect(asked).toMatchObject([{ from: MONDAY - DAY / 2, principal: 'alice' }]);
  });

  it('that cannot be read is denied or allowed as the key says, and read again', async () => {
    let isThere = false;
    const stored = async (): Promise<never> => {
      if (isThere) return [{ costUsd: 11 }] as never;
      throw new Error('gone');
    };
    const strict = limitsOf({ budget: { usd: 10, per: 'day', on_unknown: 'deny' } }, stored);
    await expect(strict.ask()).rejects.toMatchObject({ status: 503, retryAfter: 5 });
    const lenient = limitsOf({ budget: { usd: 10, per: 'day', on_unknown: 'allow' } }, stored);
    expect((await lenient.ask()).headers).toEqual({ 'x-toolgate-budget': 'unknown; allowed' });
    isThere = true;
    await expect(lenient.ask()).rejects.toMatchObject({ status: 429 });
  });
});
