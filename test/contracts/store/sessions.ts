import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/conversation.js';
import { sessionLease } from '../../../src/store/leases.js';
import { approval } from './approvals.js';
import { acquire, allPages, type Bench, newSession, ownSession, START, TTL } from './place.js';

export function sessionsContract(bench: () => Bench): void {
  describe('sessions', () => {
    it('keeps what it was given, exactly', async () => {
      const store = await bench().open();
      const metadata = {
        tools: [{ name: 'weather\u0000', n: 1.5 }],
        odd: '\ud800',
        nested: { z: 1, a: null },
      };
      await ownSession(store, 's1', { title: 'Fix it 修', parent: 's0', metadata });
      expect(await store.sessions.get('s1')).toEqual({
        id: 's1',
        principal: 'alice',
        model: 'coder',
        engine: 'native',
        state: 'live',
        title: 'Fix it 修',
        parent: 's0',
        createdAt: START,
        updatedAt: START,
        expiresAt: START + 10 * TTL,
        metadata,
      });
      expect(await store.sessions.get('nobody')).toBeUndefined();
    });

    it('creates an id once', async () => {
      const store = await bench().open();
      await ownSession(store, 's1');
      const again = { id: 's1', principal: 'eve', model: 'm', engine: 'native', expiresAt: START + TTL };
      expect(await store.sessions.create({ ...again, state: 'live' })).toBe(false);
      expect((await store.sessions.get('s1'))?.principal).toBe('alice');
    });

    it('changes only what a checkpoint names', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1', { title: 'old', metadata: { a: 1 } });
      bench().now += 5;
      expect(await step({ state: 'parked', expiresAt: START + 20 * TTL })).toEqual({ ok: true });
      expect(await store.sessions.get('s1')).toMatchObject({
        state: 'parked',
        title: 'old',
        metadata: { a: 1 },
        updatedAt: START + 5,
        expiresAt: START + 20 * TTL,
      });
      expect(await step({ title: 'new', model: 'other', metadata: { b: 2 } })).toEqual({ ok: true });
      expect(await store.sessions.get('s1')).toMatchObject({
        state: 'parked',
        title: 'new',
        model: 'other',
        metadata: { b: 2 },
      });
    });

    it('reads as expired when its time is over, and takes no more steps', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1', { expiresAt: START + 100 });
      bench().now = START + 100;
      expect((await store.sessions.get('s1'))?.state).toBe('expired');
      expect(await step({ expiresAt: START + TTL })).toEqual({ ok: false, reason: 'gone' });
    });

    it('fences off whoever lost the lease', async () => {
      const store = await bench().open();
      const { id, step, lease } = await ownSession(store, 's1');
      bench().now += TTL;
      const taken = await acquire(store, sessionLease(id), 'node-b');
      expect(await step({ state: 'parked' })).toEqual({ ok: false, reason: 'fenced' });
      expect((await store.sessions.get(id))?.state).toBe('live');
      expect(await store.sessions.checkpoint(id, taken, { state: 'parked' })).toEqual({ ok: true });
      await store.leases.release(taken);
      expect(await store.sessions.checkpoint(id, taken, { state: 'live' })).toMatchObject({ ok: false });
      expect(lease.token).toBeLessThan(taken.token);
    });

    it('is taken with its first step: by one, and as it was read', async () => {
      const store = await bench().open();
      await newSession(store, 's1', { metadata: { a: 1, b: ['\ud800\u0000'] } });
      const claim = (owner: string, metadata: JsonObject) =>
        store.sessions.claim('s1', { owner, ttlMs: TTL, metadata }, ({ token }) => ({
          metadata: { token },
          append: [{ after: 0, entries: [{ uuid: `${token}.1`, message: owner }] }],
        }));
      expect(await claim('node-a', { a: 1, b: [3] })).toEqual({ ok: false, reason: 'changed' });
      expect(await store.leases.holders([sessionLease('s1')])).toEqual(new Map());
      const outcome = await claim('node-a', { a: 1, b: ['\ud800\u0000'] });
      if (!outcome.ok) throw new Error(outcome.reason);
      const { lease } = outcome;
      expect(lease).toMatchObject({ name: sessionLease('s1'), owner: 'node-a', until: START + TTL });
      const metadata = { token: lease.token };
      expect(await claim('node-b', metadata)).toEqual({ ok: false, reason: 'held', owner: 'node-a' });
      expect(await store.sessions.checkpoint('s1', lease, { state: 'parked' })).toEqual({ ok: true });
      bench().now += TTL;
      // Its first step is refused, and so is the lease.
      expect(await claim('node-b', metadata)).toMatchObject({ ok: false, reason: 'moved', last: 1 });
      expect(await store.sessions.checkpoint('s1', lease, { state: 'live' })).toEqual({ ok: true });
      expect(await store.sessions.get('s1')).toMatchObject({ state: 'live', metadata });
      expect((await store.transcripts.read('s1')).map(({ message }) => message)).toEqual(['node-a']);
      expect(await store.sessions.claim('s2', { owner: 'node-a', ttlMs: TTL, metadata }, () => ({}))).toEqual(
        {
          ok: false,
          reason: 'gone',
        },
      );
    });

    it('is free for others with the step that releases it, and only then', async () => {
      const store = await bench().open();
      const { id, step } = await ownSession(store, 's1');
      expect(await step({ use: ['none'], release: true })).toMatchObject({ ok: false, reason: 'unusable' });
      expect(await store.leases.holders([sessionLease(id)])).toEqual(new Map([[sessionLease(id), 'node-a']]));
      expect(await step({ state: 'parked', release: true })).toEqual({ ok: true });
      expect(await store.leases.holders([sessionLease(id)])).toEqual(new Map());
      expect(await step({ state: 'live' })).toEqual({ ok: false, reason: 'fenced' });
      await acquire(store, sessionLease(id), 'node-b');
    });

    it('takes no step and gives up no lease for an owner who has the right token and another name', async () => {
      const store = await bench().open();
      const { id, lease, step } = await ownSession(store, 's1');
      const theirs = { ...lease, owner: 'node-b' };
      const refused = { ok: false, reason: 'fenced' };
      expect(await store.sessions.checkpoint(id, theirs, { state: 'parked' })).toEqual(refused);
      expect(await store.leases.release(theirs)).toBe(false);
      expect(await step({ state: 'parked' })).toEqual({ ok: true });
      expect(await store.leases.release(lease)).toBe(true);
    });

    it("does not take another session's lease", async () => {
      const store = await bench().open();
      await ownSession(store, 's1');
      const other = await ownSession(store, 's2');
      const refused = { ok: false, reason: 'fenced' };
      expect(await store.sessions.checkpoint('s1', other.lease, { state: 'parked' })).toEqual(refused);
    });

    it('goes on after a lapse nobody used', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      bench().now += 2 * TTL;
      expect(await step({ state: 'parked' })).toEqual({ ok: true });
    });

    it('writes a whole step or nothing', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ open: [{ id: 'call', name: 'f', input: {}, runBy: 'client' }] });
      const outcome = await step({
        state: 'parked',
        title: 'never',
        append: [{ entries: [{ uuid: 'u1', message: 'never' }] }],
        index: [{ hash: 'never', position: 1 }],
        open: [{ id: 'second', name: 'f', input: {}, runBy: 'client' }],
        answer: { key: 'k', digest: 'd', body: 'never', expiresAt: START + TTL },
        use: ['call'],
      });
      expect(outcome).toEqual({ ok: false, reason: 'unusable', ids: ['call'] });
      expect(await store.sessions.get('s1')).toMatchObject({ state: 'live' });
      expect(await store.transcripts.read('s1')).toEqual([]);
      expect(await store.index.longestPrefix('alice', ['never'])).toBeUndefined();
      expect((await store.toolCalls.list('s1')).map((call) => call.id)).toEqual(['call']);
      expect(await store.answers.get('alice', 'k')).toBeUndefined();
    });

    it('lists the latest used first, by principal, state and words', async () => {
      const store = await bench().open();
      for (const [id, principal, title] of [
        ['s1', 'alice', 'fix 100% of it'],
        ['s2', 'bob', 'other'],
        ['s3', 'alice', 'fix 1000 things'],
      ] as const) {
        bench().now += 1;
        await ownSession(store, id, { principal, title, state: id === 's3' ? 'parked' : 'live' });
      }
      await ownSession(store, 's4', { expiresAt: START + 10 });
      bench().now = START + 10;
      const ids = async (query: Parameters<typeof store.sessions.list>[0]) =>
        (await store.sessions.list(query)).items.map((session) => session.id);
      expect(await ids({ limit: 10 })).toEqual(['s4', 's3', 's2', 's1']);
      expect(await ids({ limit: 10, principal: 'alice' })).toEqual(['s4', 's3', 's1']);
      expect(await ids({ limit: 10, states: ['parked'] })).toEqual(['s3']);
      expect(await ids({ limit: 10, states: ['live'] })).toEqual(['s2', 's1']);
      expect(await ids({ limit: 10, states: ['expired'] })).toEqual(['s4']);
      expect(await ids({ limit: 10, states: ['expired', 'parked'] })).toEqual(['s4', 's3']);
      expect(await ids({ limit: 10, states: [] })).toEqual([]);
      expect(await store.sessions.count({})).toBe(4);
      expect(await store.sessions.count({ principal: 'alice', states: ['live', 'parked'] })).toBe(2);
      expect(await ids({ limit: 10, search: '100%' })).toEqual(['s1']);
      expect(await ids({ limit: 10, search: 'OTHER' })).toEqual(['s2']);
    });

    it('lists by what waits, by open turns, and only some of them', async () => {
      const store = await bench().open();
      const turns = { s1: { key: 'k' }, s2: { key: 'k', stopped: true }, s3: undefined, s4: { key: 'k' } };
      for (const [id, turn] of Object.entries(turns)) {
        bench().now += 1;
        await ownSession(store, id, { metadata: turn === undefined ? {} : { turn } });
      }
      await store.approvals.create(approval('a1', { session: 's1' }));
      await store.approvals.create(approval('a2', { session: 's3' }));
      await store.approvals.decide('a2', { state: 'denied', digest: 'digest-a2', by: 'bob', via: 'api' });
      const ids = async (query: Omit<Parameters<typeof store.sessions.list>[0], 'limit'>) =>
        (await store.sessions.list({ limit: 10, ...query })).items.map((session) => session.id);
      expect(await ids({ waiting: true })).toEqual(['s1']);
      expect(await ids({ waiting: false })).toEqual(['s4', 's3', 's2']);
      expect(await ids({ turnOpen: true })).toEqual(['s4', 's1']);
      expect(await ids({ turnOpen: true, principal: 'alice', waiting: false })).toEqual(['s4']);
      expect(await ids({ among: ['s3', 's1', 's9'] })).toEqual(['s3', 's1']);
      expect(await ids({ among: [] })).toEqual([]);
      expect(await ids({ except: ['s3', 's1'] })).toEqual(['s4', 's2']);
    });

    it('keeps what people make of a session, whatever its owner writes, and lists by it', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1', { title: 'its own' });
      bench().now += 1;
      await ownSession(store, 's2');
      const { sessions } = store;
      const named = { title: 'Größe', pinned: true };
      expect(await sessions.label('s1', named)).toBe(true);
      bench().now += 1;
      expect(await sessions.label('s1', { pinned: true, archived: true })).toBe(true);
      const labelled = {
        title: 'Größe',
        pinnedAt: START + 1,
        archivedAt: START + 2,
        updatedAt: START,
      };
      expect(await sessions.get('s1')).toMatchObject(labelled);
      const ids = async (query: object) =>
        (await sessions.list({ limit: 10, ...query })).items.map(({ id }) => id);
      expect(await ids({})).toEqual(['s2', 's1']);
      expect(await ids({ pinned: true })).toEqual(['s1']);
      expect(await ids({ pinned: false })).toEqual(['s2']);
      expect(await ids({ archived: true, search: 'grosse' })).toEqual(['s1']);
      expect(await ids({ archived: false })).toEqual(['s2']);
      expect(await step({ title: 'its own, later' })).toEqual({ ok: true });
      expect((await sessions.get('s1'))?.title).toBe('Größe');
      await sessions.label('s1', { title: null, pinned: false, archived: false });
      const plain = await sessions.get('s1');
      expect(plain?.title).toBe('its own, later');
      expect(plain).not.toHaveProperty('pinnedAt');
      expect(plain).not.toHaveProperty('archivedAt');
      bench().now = START + 10 * TTL;
      expect(await sessions.label('s1', { pinned: true })).toBe(false);
      expect(await sessions.label('nobody', { pinned: true })).toBe(false);
    });

    it('keeps the mode that a person chose, and the one before a plan', async () => {
      const store = await bench().open();
      await ownSession(store, 's1');
      const { sessions } = store;
      expect(await sessions.modeOf('s1')).toBeUndefined();
      expect(await sessions.modeOf('nobody')).toBeUndefined();
      expect(await sessions.leavePlan('s1'), 'one that has no plan').toBe(false);
      await sessions.label('s1', { mode: 'allow-edits' });
      await sessions.label('s1', { mode: 'plan' });
      await sessions.label('s1', { mode: 'plan' });
      expect(await sessions.modeOf('s1')).toBe('plan');
      expect(await sessions.leavePlan('s1')).toBe(true);
      expect((await sessions.get('s1'))?.mode).toBe('allow-edits');
      expect(await sessions.leavePlan('s1'), 'once').toBe(false);
      await sessions.label('s1', { mode: 'plan' });
      await sessions.label('s1', { mode: 'read-only' });
      expect(await sessions.leavePlan('s1'), 'another mode since').toBe(false);
      await sessions.label('s1', { mode: null });
      expect(await sessions.get('s1')).not.toHaveProperty('mode');
    });

    it('pages through sessions that were used in the same moment', async () => {
      const store = await bench().open();
      for (let n = 0; n < 7; n++) await ownSession(store, `s${n}`);
      const all = await allPages((cursor) => store.sessions.list({ limit: 3, ...(cursor && { cursor }) }));
      expect(all.map((session) => session.id)).toEqual(['s6', 's5', 's4', 's3', 's2', 's1', 's0']);
    });

    it('refuses a cursor that it did not give', async () => {
      const store = await bench().open();
      const wrong = { limit: 1, cursor: "'; DROP TABLE sessions" };
      await expect(store.sessions.list(wrong)).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it('deletes a session with all it has', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({
        append: [{ entries: [{ uuid: 'u1', message: 'hello' }] }],
        index: [{ hash: 'h1', position: 1 }],
        open: [{ id: 'call', name: 'f', input: {}, runBy: 'client' }],
        answer: { key: 'k', digest: 'd', body: {}, expiresAt: START + TTL },
      });
      await store.rules.add({
        scope: 'session',
        session: 's1',
        rule: 'Read',
        behaviour: 'allow',
        createdBy: 'a',
      });
      await store.approvals.create({
        id: 'a1',
        session: 's1',
        principal: 'alice',
        toolUseId: 'call',
        tool: 'f',
        input: {},
        describe: {},
        suggestions: [],
        digest: 'd',
      });
      expect(await store.sessions.delete('s1', 'alice')).toBe(true);
      expect(await store.sessions.get('s1')).toBeUndefined();
      expect(await store.transcripts.read('s1')).toEqual([]);
      expect(await store.index.longestPrefix('alice', ['h1'])).toBeUndefined();
      expect(await store.toolCalls.list('s1')).toEqual([]);
      expect(await store.answers.get('alice', 'k')).toBeUndefined();
      expect(await store.rules.list()).toEqual([]);
      expect(await store.approvals.get('a1')).toMatchObject({
        state: 'cancelled',
        decision: { by: 'alice' },
      });
      expect(await step({ state: 'parked' })).toEqual({ ok: false, reason: 'gone' });
      expect(await store.sessions.delete('s1', 'alice')).toBe(false);
    });
  });
}
