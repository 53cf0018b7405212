import { describe, expect, it } from 'vitest';
import type { NewRun } from '../../../src/store/runs.js';
import { type Bench, ownSession, START } from './place.js';

const run = (id: string, more: Partial<NewRun> = {}): NewRun => ({
  id,
  principal: 'alice',
  owner: 'node-a',
  request: { model: 'coder', messages: [{ role: 'user', content: 'ünï ☃' }] },
  ...more,
});

export function runsContract(bench: () => Bench): void {
  describe('runs', () => {
    it('keeps exactly what was asked, and takes an id once', async () => {
      const store = await bench().open();
      expect(await store.runs.create(run('r1'))).toBe(true);
      expect(await store.runs.create(run('r1', { principal: 'bob' }))).toBe(false);
      expect(await store.runs.get('r1')).toEqual({
        ...run('r1'),
        state: 'running',
        attempts: 1,
        startedAt: START,
      });
      expect(await store.runs.get('r2')).toBeUndefined();
    });

    it('knows its session once it has one, and only one that is there', async () => {
      const store = await bench().open();
      await ownSession(store, 's1');
      await store.runs.create(run('r1'));
      expect(await store.runs.attach('r1', 'nowhere')).toBe(false);
      expect(await store.runs.ofSession('s1')).toBeUndefined();
      expect(await store.runs.attach('r1', 's1')).toBe(true);
      expect(await store.runs.ofSession('s1')).toMatchObject({ id: 'r1', session: 's1' });
      expect(await store.runs.attach('r9', 's1')).toBe(false);
    });

    it('is the newest of each session', async () => {
      const store = await bench().open();
      for (const [id, session] of [
        ['r1', 's1'],
        ['r2', 's1'],
        ['r3', 's2'],
      ] as const) {
        if (id !== 'r2') await ownSession(store, session);
        await store.runs.create(run(id));
        await store.runs.attach(id, session);
        bench().now += 1;
      }
      const found = await store.runs.ofSessions(['s1', 's9']);
      expect([...found].map(([session, { id }]) => [session, id])).toEqual([['s1', 'r2']]);
      expect([...found.values()].some((each) => 'request' in each)).toBe(false);
    });

    it('goes with its session', async () => {
      const store = await bench().open();
      await ownSession(store, 's1');
      await store.runs.create(run('r1'));
      await store.runs.attach('r1', 's1');
      await store.sessions.delete('s1', 'alice');
      expect(await store.runs.get('r1')).toBeUndefined();
      expect(await store.runs.running()).toEqual([]);
    });

    it('lists those that run without what was asked, the oldest first', async () => {
      const store = await bench().open();
      await store.runs.create(run('r1'));
      bench().now += 1;
      await store.runs.create(run('r2', { owner: 'node-b' }));
      bench().now += 1;
      await store.runs.create(run('r3'));
      expect(await store.runs.interrupt('r3', 'node-a')).toBe(true);
      expect(await store.runs.interrupt('r2', 'node-a')).toBe(false);
      expect(await store.runs.interrupt('r9', 'node-a')).toBe(false);
      const listed = await store.runs.running();
      expect(listed.map(({ id, owner }) => [id, owner])).toEqual([
        ['r1', 'node-a'],
        ['r2', 'node-b'],
      ]);
      expect(listed[0]).not.toHaveProperty('request');
    });

    it('is claimed by one of those who race, and runs again', async () => {
      const store = await bench().open();
      await store.runs.create(run('r1'));
      await store.runs.interrupt('r1', 'node-a');
      const claims = await Promise.all(
        ['node-b', 'node-c', 'node-d'].map((to) =>
          store.runs.claim('r1', { from: 'node-a', to, attempts: 2 }),
        ),
      );
      const won = claims.filter((claim) => claim !== undefined);
      expect(won).toHaveLength(1);
      expect(await store.runs.get('r1')).toEqual(won[0]);
      expect(won[0]).toMatchObject({ ...run('r1'), owner: won[0]?.owner, attempts: 2, state: 'running' });
      expect(won[0]?.owner).not.toBe('node-a');
    });

    it('is left to another owner with all that the owner has', async () => {
      const store = await bench().open();
      await store.runs.create(run('r1'));
      await store.runs.create(run('r2'));
      await store.runs.create(run('r3', { owner: 'node-b' }));
      expect(await store.runs.release('node-a', 'free')).toBe(2);
      const owners = (await store.runs.running()).map(({ id, owner }) => [id, owner]);
      expect(owners).toEqual([
        ['r1', 'free'],
        ['r2', 'free'],
        ['r3', 'node-b'],
      ]);
    });

    it('is deleted alone, or with the others of its session', async () => {
      const store = await bench().open();
      await ownSession(store, 's1');
      for (const id of ['r1', 'r2', 'r3']) {
        await store.runs.create(run(id));
        await store.runs.attach(id, 's1');
      }
      await store.runs.create(run('r4'));
      expect(await store.runs.deleteOthers('s1', 'r2')).toBe(2);
      expect((await store.runs.running()).map(({ id }) => id)).toEqual(['r2', 'r4']);
      expect(await store.runs.delete('r2')).toBe(true);
      expect(await store.runs.delete('r2')).toBe(false);
    });

    it('is pruned for its age where it never came to a session', async () => {
      const store = await bench().open({ limits: { runs: { maxAgeMs: 1000 } } });
      await ownSession(store, 's1');
      await store.runs.create(run('r1'));
      await store.runs.create(run('r2'));
      await store.runs.attach('r2', 's1');
      bench().now += 1001;
      await store.runs.create(run('r3'));
      expect(await store.prune()).toMatchObject({ runs: 1 });
      expect((await store.runs.running()).map(({ id }) => id)).toEqual(['r2', 'r3']);
    });
  });
}
