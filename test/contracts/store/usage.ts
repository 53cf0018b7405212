import { describe, expect, it } from 'vitest';
import { histogramOf } from '../../../src/core/histogram.js';
import { resolveLimits } from '../../../src/store/limits.js';
import type { UsageRecord } from '../../../src/store/usage.js';
import { pageUsage } from '../../../src/store/usage-pages.js';
import { type Bench, START, TTL } from './place.js';

const DAY = 86_400_000;
/** 2025-10-09T08:53:20Z. */
const AT = START;

const row = (more: Partial<UsageRecord> = {}): UsageRecord => ({
  at: AT,
  principal: 'alice',
  model: 'gpt',
  upstream: 'openai',
  status: 200,
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 3,
  cacheWriteTokens: 2,
  latencyMs: 100,
  ...more,
});

const everything = { from: 0, to: AT + 10 * DAY, histograms: true };

export function usageContract(bench: () => Bench): void {
  describe('usage', () => {
    it('takes any figure of an upstream, and loses no row to one that cannot be written', async () => {
      const store = await bench().open();
      const odd = [1e30, Number.MAX_SAFE_INTEGER, 1.5, -5, Number.NaN, Number.POSITIVE_INFINITY];
      for (const figure of odd) {
        store.usage.record(row({ inputTokens: figure, reasoningTokens: figure, costUsd: figure }));
      }
      store.usage.record(row());
      expect(await store.usage.summarise({ ...everything, by: ['principal'] })).toMatchObject([
        { requests: 7, outputTokens: 35 },
      ]);
      expect(bench().errors).toEqual([]);
      store.usage.record(row({ principal: 'bob' }));
      store.usage.record(row({ principal: 'bob', status: 1e30 }));
      store.usage.record(row({ principal: 'bob' }));
      const [bob] = await store.usage.summarise({ ...everything, by: [], principal: 'bob' });
      expect(bob?.requests).toBe(2);
      expect(bench().errors).toHaveLength(1);
      bench().errors.length = 0;
    });

    it('sums up as many of the largest figures as are kept', async () => {
      const store = await bench().open();
      for (let n = 0; n < 100; n++) store.usage.record(row({ inputTokens: Number.MAX_SAFE_INTEGER }));
      const [sum] = await store.usage.summarise({ ...everything, by: [] });
      expect(sum?.inputTokens).toBe(100 * 1e12);
      expect(100 * 1e12 * (resolveLimits().usage.maxRows / 100)).toBeLessThan(2 ** 63);
    });

    it('adds up', async () => {
      const store = await bench().open();
      store.usage.record(row({ costUsd: 0.25, firstTokenMs: 20, reasoningTokens: 4 }));
      store.usage.record(row({ costUsd: 0.5, latencyMs: 300.4, firstTokenMs: 40 }));
      store.usage.record(row({ status: 529 }));
      expect(await store.usage.summarise({ ...everything, by: [] })).toEqual([
        {
          group: {},
          requests: 3,
          errors: 1,
          inputTokens: 30,
          outputTokens: 15,
          cacheReadTokens: 9,
          cacheWriteTokens: 6,
          reasoningTokens: 4,
          costUsd: 0.75,
          unpriced: 1,
          meanLatencyMs: 500 / 3,
          maxLatencyMs: 300,
          latencies: [
            [100, 2],
            [288, 1],
          ],
          streamed: 2,
          meanFirstTokenMs: 30,
          firstTokens: [
            [20, 1],
            [40, 1],
          ],
        },
      ]);
    });

    it('does not count what its reader stopped or left as an error', async () => {
      const store = await bench().open();
      for (const status of [200, 400, 499, 529]) store.usage.record(row({ status }));
      const [sum] = await store.usage.summarise({ ...everything, by: [] });
      expect(sum).toMatchObject({ requests: 4, errors: 2 });
    });

    it('counts how long answers and first tokens of each group took', async () => {
      const store = await bench().open();
      for (const latencyMs of [10, 10, 2000]) store.usage.record(row({ model: 'a', latencyMs }));
      store.usage.record(row({ model: 'b', latencyMs: 4100, firstTokenMs: 0 }));
      store.usage.record(row({ model: 'b', latencyMs: 12, status: 500 }));
      const sums = await store.usage.summarise({ ...everything, by: ['model'] });
      expect(sums.map(({ latencies, firstTokens }) => ({ latencies, firstTokens }))).toEqual([
        {
          latencies: [
            [10, 2],
            [1984, 1],
          ],
          firstTokens: [],
        },
        {
          latencies: [
            [12, 1],
            [4096, 1],
          ],
          firstTokens: [[0, 1]],
        },
      ]);
      expect(sums.map((sum) => 'meanFirstTokenMs' in sum)).toEqual([false, true]);
    });

    it('counts no times unless it is asked to', async () => {
      const store = await bench().open();
      store.usage.record(row({ latencyMs: 10, firstTokenMs: 5 }));
      const [sum] = await store.usage.summarise({ ...everything, by: [], histograms: false });
      expect(sum).toMatchObject({ requests: 1, latencies: [], firstTokens: [] });
    });

    it('has nothing to say about nothing', async () => {
      const store = await bench().open();
      expect(await store.usage.summarise({ ...everything, by: [] })).toEqual([]);
      expect(await store.usage.summarise({ ...everything, by: ['day', 'model'] })).toEqual([]);
    });

    it('groups by what is asked, in order', async () => {
      const store = await bench().open();
      store.usage.record(row({ model: 'b', at: AT + DAY }));
      store.usage.record(row({ model: 'a', principal: 'bob' }));
      store.usage.record(row({ model: 'b', session: 's1', team: 'web' }));
      store.usage.record(row({ model: 'b', upstream: 'azure' }));
      const groups = async (by: Parameters<typeof store.usage.summarise>[0]['by'], more = {}) =>
        (await store.usage.summarise({ ...everything, by, ...more })).map(({ group, requests }) => [
          ...Object.values(group),
          requests,
        ]);
      expect(await groups(['model'])).toEqual([
        ['a', 1],
        ['b', 3],
      ]);
      expect(await groups(['day', 'model'])).toEqual([
        ['2025-10-09', 'a', 1],
        ['2025-10-09', 'b', 2],
        ['2025-10-10', 'b', 1],
      ]);
      expect(await groups(['principal'])).toEqual([
        ['alice', 3],
        ['bob', 1],
      ]);
      expect(await groups(['team'])).toEqual([
        ['', 3],
        ['web', 1],
      ]);
      expect(await groups(['team', 'principal'])).toEqual([
        ['', 'alice', 2],
        ['', 'bob', 1],
        ['web', 'alice', 1],
      ]);
      expect(await groups(['upstream'])).toEqual([
        ['azure', 1],
        ['openai', 3],
      ]);
      expect(await groups(['session'])).toEqual([
        ['', 3],
        ['s1', 1],
      ]);
      expect(await groups(['model'], { principal: 'bob' })).toEqual([['a', 1]]);
      expect(await groups(['model'], { session: 's1' })).toEqual([['b', 1]]);
    });

    it('begins days where the reader lives', async () => {
      const store = await bench().open();
      const midnight = Date.UTC(2025, 9, 10);
      store.usage.record(row({ at: midnight - 1 }));
      store.usage.record(row({ at: midnight - 8 * 3_600_000 }));
      store.usage.record(row({ at: midnight - 8 * 3_600_000 - 1 }));
      const days = async (utcOffsetMinutes: number) =>
        (await store.usage.summarise({ ...everything, by: ['day'], utcOffsetMinutes })).map(
          ({ group, requests }) => [group.day, requests],
        );
      expect(await days(0)).toEqual([['2025-10-09', 3]]);
      expect(await days(480)).toEqual([
        ['2025-10-09', 1],
        ['2025-10-10', 2],
      ]);
    });

    it('counts from `from` up to but not including `to`', async () => {
      const store = await bench().open();
      for (const at of [AT - 1, AT, AT + TTL - 1, AT + TTL]) store.usage.record(row({ at }));
      const [sum] = await store.usage.summarise({ from: AT, to: AT + TTL, by: [] });
      expect(sum?.requests).toBe(2);
    });

    it('counts single sessions alone', async () => {
      const store = await bench().open();
      for (const session of ['s1', 's2', 's2', 's3']) store.usage.record(row({ session }));
      store.usage.record(row({}));
      const sums = await store.usage.summarise({
        ...everything,
        by: ['session'],
        sessions: ['s2', 's3', 's9'],
      });
      expect(sums.map(({ group, requests }) => [group.session, requests])).toEqual([
        ['s2', 2],
        ['s3', 1],
      ]);
      expect(await store.usage.summarise({ ...everything, by: ['session'], sessions: [] })).toEqual([]);
    });

    it('adds up more rows than it reads in one step', async () => {
      const store = await bench().open({ limits: { buffer: { flushRows: 5000, maxRows: 100_000 } } });
      const half = 12_000;
      const taken: number[][] = [[], []];
      // The largest comes first, so that every later step has to leave it.
      for (let n = 2 * half; n > 0; n--) {
        const times = { latencyMs: n, ...(n % 3 === 0 && { firstTokenMs: n / 3 }) };
        store.usage.record(row({ at: AT + half - Math.floor(n / 3), model: `m${n % 2}`, ...times }));
        taken[n % 2]?.push(n);
      }
      const sums = await store.usage.summarise({ ...everything, by: ['model'] });
      const figures = sums.map(({ requests, inputTokens, maxLatencyMs, meanLatencyMs }) => [
        requests,
        inputTokens,
        maxLatencyMs,
        Math.round(meanLatencyMs),
      ]);
      expect(figures).toEqual([
        [half, half * 10, 2 * half, half + 1],
        [half, half * 10, 2 * half - 1, half],
      ]);
      expect(sums.map(({ latencies }) => latencies)).toEqual(taken.map(histogramOf));
      expect(sums.map(({ firstTokens }) => firstTokens)).toEqual(
        taken.map((of) => histogramOf(of.filter((n) => n % 3 === 0).map((n) => n / 3))),
      );
    });

    it('comes in pages, the most used first, with the total of all of them', async () => {
      const store = await bench().open();
      for (let n = 1; n <= 7; n++) {
        for (let times = 0; times < n; times++) {
          store.usage.record(row({ session: `s${n}`, costUsd: 1 / n ** 2, latencyMs: n }));
        }
      }
      store.usage.record(row());
      const { histograms: _, ...span } = everything;
      const query = { ...span, by: ['session'], sort: 'requests', limit: 3 } as const;
      const seen: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await pageUsage(store.usage, { ...query, ...(cursor !== undefined && { cursor }) });
        expect(page.total).toMatchObject({ requests: 29, inputTokens: 290, unpriced: 1 });
        expect([page.from, page.to]).toEqual([span.from, span.to]);
        seen.push(page.items.map(({ group, latencies }) => [group.session, latencies]));
        cursor = page.next;
      } while (cursor !== undefined);
      const shown = (n: number) => [`s${n}`, [[n, n]]];
      expect(seen).toEqual([
        [shown(7), shown(6), shown(5)],
        [shown(4), shown(3), shown(2)],
        [
          ['', [[100, 1]]],
          ['s1', [[1, 1]]],
        ],
      ]);
      const byCost = await pageUsage(store.usage, { ...query, sort: 'cost', limit: 2 });
      expect(byCost.items.map(({ group }) => group.session)).toEqual(['s1', 's2']);
      for (const wrong of ['x', byCost.next?.slice(3) ?? '', 'W10']) {
        const asked = pageUsage(store.usage, { ...query, cursor: wrong });
        await expect(asked).rejects.toMatchObject({ code: 'invalid_request', param: 'cursor' });
      }
    });

    it('names the most used groups and sums up all others, for each day', async () => {
      const store = await bench().open();
      for (const [model, at, times] of [
        ['a', AT, 3],
        ['b', AT, 2],
        ['c', AT, 1],
        ['d', AT + DAY, 1],
        ['b', AT + DAY, 1],
        ['e', AT + DAY, 1],
      ] as const) {
        for (let n = 0; n < times; n++) store.usage.record(row({ model, at, latencyMs: 7, costUsd: 1 }));
      }
      const { histograms: _, ...span } = everything;
      const query = { ...span, by: ['day', 'model'], sort: 'requests', limit: 99, top: 2 } as const;
      const { items, total } = await pageUsage(store.usage, query);
      expect(total).toMatchObject({ requests: 9, costUsd: 9 });
      expect(
        items.map(({ group, others = false, requests, latencies }) => [group, others, requests, latencies]),
      ).toEqual([
        [{ day: '2025-10-10', model: 'b' }, false, 1, [[7, 1]]],
        [{ day: '2025-10-10' }, true, 2, [[7, 2]]],
        [{ day: '2025-10-09', model: 'a' }, false, 3, [[7, 3]]],
        [{ day: '2025-10-09', model: 'b' }, false, 2, [[7, 2]]],
        [{ day: '2025-10-09' }, true, 1, [[7, 1]]],
      ]);
    });
  });
}
