import { describe, expect, it } from 'vitest';
import { sessionLease } from '../../../src/store/leases.js';
import { resolveLimits } from '../../../src/store/limits.js';
import type { PruneReport } from '../../../src/store/store.js';
import { allow, approval } from './approvals.js';
import { acquire, type Bench, ownSession, START, TTL } from './place.js';
import { recorded, trace } from './traces.js';

const NOTHING: PruneReport = {
  sessions: 0,
  evicted: 0,
  answers: 0,
  approvals: 0,
  rules: 0,
  audit: 0,
  traces: 0,
  quirks: 0,
  usage: 0,
  leases: 0,
  runs: 0,
  signIns: 0,
  outbox: 0,
  keys: 0,
  pins: 0,
};

const usage = (at: number) => ({
  at,
  principal: 'alice',
  model: 'm',
  upstream: 'u',
  status: 200,
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  latencyMs: 1,
});

export function pruneContract(bench: () => Bench): void {
  describe('prune', () => {
    it('deletes nothing that is young and small', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ answer: { key: 'k', digest: 'd', body: 1, expiresAt: START + TTL } });
      await store.approvals.create(approval('a1'));
      await store.rules.add({
        scope: 'session',
        session: 's9',
        rule: 'A',
        behaviour: 'allow',
        createdBy: 'x',
      });
      await store.quirks.put({ upstream: 'u', model: 'm', key: 'k', value: 1, evidence: 'e' });
      store.traces.record(trace('r1'));
      store.usage.record(usage(START));
      await store.audit.append({ event: 'e', by: 'x', principal: 'alice' });
      await store.traces.list({ limit: 1 });
      await store.usage.summarise({ from: 0, to: 1, by: [] });
      expect(await store.prune()).toEqual(NOTHING);
    });

    it('leaves no row of a session behind, after a time in which it still reads as expired', async () => {
      const store = await bench().open();
      const { step, lease } = await ownSession(store, 's1', { expiresAt: START + TTL });
      const entries = Array.from({ length: 700 }, (_, n) => ({ uuid: `u${n}`, message: n }));
      await step({ append: [{ entries }], index: [{ hash: 'h', position: 1 }] });
      await step({ open: [{ id: 'c', name: 'f', input: {}, runBy: 'client' }] });
      await store.leases.release(lease);
      bench().now = START + TTL;
      expect((await store.prune()).sessions).toBe(0);
      expect((await store.sessions.get('s1'))?.state).toBe('expired');
      bench().now += resolveLimits().sessions.graceMs;
      expect((await store.prune()).sessions).toBe(1);
      expect(await store.sessions.get('s1')).toBeUndefined();
      expect(await store.transcripts.read('s1')).toEqual([]);
      expect(await store.toolCalls.list('s1')).toEqual([]);
    });

    it('spares a session that somebody holds', async () => {
      const store = await bench().open({ limits: { sessions: { graceMs: 0, maxRows: 1 } } });
      await ownSession(store, 'held', { expiresAt: START + 1 });
      bench().now += 1;
      await ownSession(store, 'latest');
      await ownSession(store, 'held-too');
      expect((await store.prune()).sessions).toBe(0);
      bench().now += TTL;
      expect((await store.prune()).sessions).toBe(2);
    });

    it('keeps the sessions used last when there are too many or they are too large', async () => {
      const store = await bench().open({ limits: { sessions: { maxRows: 3, maxBytes: 5000 } } });
      for (const id of ['s1', 's2', 's3', 's4']) {
        bench().now += 1;
        const { lease } = await ownSession(store, id);
        await store.leases.release(lease);
      }
      expect((await store.prune()).sessions).toBe(1);
      bench().now += 1;
      const lease = await acquire(store, sessionLease('s3'));
      const entries = [{ uuid: 'u', message: 'x'.repeat(4995) }];
      await store.sessions.checkpoint('s3', lease, { append: [{ entries }] });
      expect((await store.prune()).sessions).toBe(2);
      expect((await store.sessions.list({ limit: 9 })).items.map((session) => session.id)).toEqual(['s3']);
    });

    it('ends no session before its time that waits for the client or for a person, and says how many it ended', async () => {
      const store = await bench().open({ limits: { sessions: { maxRows: 1 } } });
      for (const id of ['idle', 'parked', 'asked', 'latest']) {
        bench().now += 1;
        const { step, lease } = await ownSession(store, id);
        const open = [{ id: `c-${id}`, name: 'f', input: {}, runBy: 'client' }] as const;
        if (id === 'parked') await step({ state: 'parked', open });
        if (id === 'asked') await store.approvals.create({ ...approval('waits'), session: id });
        await store.leases.release(lease);
      }
      expect(await store.prune()).toMatchObject({ sessions: 1, evicted: 1 });
      expect((await store.sessions.list({ limit: 9 })).items.map(({ id }) => id)).toEqual([
        'latest',
        'asked',
        'parked',
      ]);
      expect(await store.figures()).toEqual({
        sessions: { live: 2, parked: 1, hibernated: 0 },
        approvalsWaiting: 1,
        leases: 0,
      });
      const call = { id: 'c-parked', content: [], isError: false };
      await store.toolCalls.record('parked', [call], 'alice');
      expect(await store.prune()).toMatchObject({ evicted: 1 });
    });

    it('can be written, as far as it can tell', async () => {
      await (await bench().open()).probe();
    });

    it('deletes by age', async () => {
      const store = await bench().open();
      await store.answers.put({ principal: 'a', key: 'k', digest: 'd', body: 1, expiresAt: START + TTL });
      await store.approvals.create(approval('decided'));
      await store.approvals.create(approval('waiting'));
      await store.approvals.decide('decided', allow('decided'));
      await store.rules.add({
        scope: 'session',
        session: 's9',
        rule: 'A',
        behaviour: 'allow',
        createdBy: 'x',
      });
      await store.rules.add({ scope: 'everywhere', rule: 'B', behaviour: 'allow', createdBy: 'x' });
      const revision = await store.rules.revision();
      await store.quirks.put({ upstream: 'u', model: 'm', key: 'k', value: 1, evidence: 'e' });
      await store.leases.acquire('x', 'node', TTL);
      for (let n = 0; n < 600; n++) store.traces.record(trace(`r${n}`, recorded(`${n}`)));
      for (let n = 0; n < 600; n++) store.usage.record(usage(START + n));
      await store.traces.list({ limit: 1 });
      await store.usage.summarise({ from: 0, to: 1, by: [] });
      bench().now = START + 500 * 86_400_000;
      const report = await store.prune();
      const audited = report.audit;
      expect(report).toEqual({
        ...NOTHING,
        answers: 1,
        approvals: 1,
        rules: 1,
        quirks: 1,
        leases: 1,
        traces: 600,
        usage: 600,
        audit: audited,
      });
      expect(audited).toBe(3);
      expect((await store.rules.list()).map(({ rule }) => rule)).toEqual(['B']);
      expect(await store.rules.revision()).not.toBe(revision);
      expect((await store.approvals.list({ limit: 9 })).items.map(({ id }) => id)).toEqual(['waiting']);
    });

    it('keeps the newest when there are too many rows', async () => {
      const cap = { maxRows: 300 };
      const old = START - 40 * 86_400_000;
      const store = await bench().open({ limits: { traces: cap, audit: cap, usage: cap, answers: cap } });
      const writes: Promise<unknown>[] = [];
      for (let n = 0; n < 1000; n++) {
        store.traces.record(trace(`r${n}`));
        store.usage.record(usage(old + n));
        writes.push(store.audit.append({ event: `e${n}`, by: 'x', principal: 'alice' }));
      }
      for (let n = 0; n < 310; n++) {
        const answer = { principal: 'a', key: `k${n}`, digest: 'd', body: 1, expiresAt: START + TTL };
        writes.push(store.answers.put(answer));
      }
      await Promise.all(writes);
      await store.traces.list({ limit: 1 });
      await store.usage.summarise({ from: 0, to: 1, by: [] });
      expect(await store.prune()).toEqual({ ...NOTHING, traces: 700, audit: 700, usage: 700, answers: 10 });
      expect((await store.traces.list({ limit: 1 })).items[0]?.id).toBe('r999');
      expect(await store.traces.get('r700')).toBeDefined();
      expect(await store.traces.get('r699')).toBeUndefined();
      const [sum] = await store.usage.summarise({ from: old + 700, to: old + 1000, by: [] });
      expect(sum?.requests).toBe(300);
    });

    it('lets no number and no size of answers push out who owns what an upstream keeps, until that expires', async () => {
      const store = await bench().open({ limits: { answers: { maxRows: 3, maxBytes: 2000 } } });
      const put = (principal: string, key: string, body: unknown) =>
        store.answers.put({ principal, key, digest: '', body, expiresAt: START + TTL });
      const owners = Array.from({ length: 20 }, (_, n) => `response:file-${n}:upstream`);
      for (const owner of owners) await put('', owner, { principal: 'alice', upstream: 'u'.repeat(200) });
      for (let n = 0; n < 10; n++) await put('bob', `k${n}`, n);
      expect((await store.prune()).answers).toBe(7);
      await put('bob', 'large', 'x'.repeat(3000));
      expect((await store.prune()).answers).toBe(4);
      // Without keys, whoever asks has the empty name as well.
      for (let n = 0; n < 5; n++) await put('', `response:resp-${n}`, n);
      expect((await store.prune()).answers).toBe(2);
      for (const owner of owners) expect(await store.answers.get('', owner), owner).toBeDefined();
      bench().now = START + TTL;
      expect((await store.prune()).answers).toBe(owners.length + 3);
    });

    it('keeps what was used within a month, which budgets count, however many rows there are', async () => {
      const store = await bench().open({ limits: { usage: { maxRows: 3 } } });
      const month = START - 31 * 86_400_000;
      for (const at of [month - 2, month - 1, month, month + 1, START - 2, START - 1, START]) {
        store.usage.record(usage(at));
      }
      await store.usage.summarise({ from: 0, to: 1, by: [] });
      expect((await store.prune()).usage).toBe(2);
      const [sum] = await store.usage.summarise({ from: 0, to: START + 1, by: [] });
      expect(sum?.requests).toBe(5);
    });

    it('never counts or deletes an approval that waits', async () => {
      const store = await bench().open({ limits: { approvals: { maxRows: 2 } } });
      for (const id of ['waits', 'a', 'b', 'waits-too', 'c', 'd']) {
        await store.approvals.create(approval(id));
        if (!id.startsWith('waits')) await store.approvals.decide(id, allow(id));
      }
      expect((await store.prune()).approvals).toBe(2);
      const left = (await store.approvals.list({ limit: 9 })).items.map(({ id }) => id);
      expect(left).toEqual(['d', 'c', 'waits-too', 'waits']);
    });

    it('keeps the newest when they are too large', async () => {
      const store = await bench().open({
        limits: { traces: { maxBytes: 10_000 }, audit: { maxBytes: 10_000 } },
      });
      for (let n = 0; n < 20; n++) {
        store.traces.record(trace(`r${n}`, { summary: { text: 'x'.repeat(2000) } }));
        await store.audit.append({ event: `e${n}`, by: 'x', principal: 'a', why: 'y'.repeat(2000) });
      }
      await store.traces.list({ limit: 1 });
      expect(await store.prune()).toEqual({ ...NOTHING, traces: 16, audit: 16 });
      expect((await store.traces.list({ limit: 9 })).items.map(({ id }) => id)).toEqual([
        'r19',
        'r18',
        'r17',
        'r16',
      ]);
    });

    it('joins a prune that runs', async () => {
      const store = await bench().open({ limits: { traces: { maxRows: 1 } } });
      for (let n = 0; n < 10; n++) store.traces.record(trace(`r${n}`));
      await store.traces.list({ limit: 1 });
      const [first, second] = await Promise.all([store.prune(), store.prune()]);
      expect(first.traces).toBe(9);
      expect(second).toBe(first);
    });
  });
}
