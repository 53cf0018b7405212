import { describe, expect, it } from 'vitest';
import type { SignIn } from '../../../src/store/sign-ins.js';
import { type Bench, START, TTL } from './place.js';

const signIn = (id: string, more: Partial<SignIn> = {}): SignIn => ({
  id,
  name: 'alice',
  binding: `binding of ${id}`,
  beganAt: START,
  expiresAt: START + TTL,
  ...more,
});

export function signInsContract(bench: () => Bench): void {
  describe('sign-ins', () => {
    it('are kept as they were first told', async () => {
      const store = await bench().open();
      await store.signIns.add(signIn('a'));
      await store.signIns.add(signIn('a', { binding: 'another', expiresAt: START + 2 * TTL }));
      expect(await store.signIns.get('a')).toEqual(signIn('a'));
      expect(await store.signIns.get('b')).toBeUndefined();
    });

    it('are listed with the one unused for longest first', async () => {
      const store = await bench().open();
      for (const id of ['c', 'a', 'b']) await store.signIns.add(signIn(id));
      const used = { id: 'c', expiresAt: START + TTL + 1 };
      await store.signIns.extend([used]);
      expect(await store.signIns.list()).toEqual([signIn('a'), signIn('b'), signIn('c', used)]);
    });

    it('are not there any more when their time is over', async () => {
      const store = await bench().open();
      await store.signIns.add(signIn('a'));
      await store.signIns.add(signIn('b', { expiresAt: START + TTL + 1 }));
      bench().now = START + TTL;
      expect(await store.signIns.get('a')).toBeUndefined();
      expect(await store.signIns.list()).toMatchObject([{ id: 'b' }]);
    });

    it('last longer when they are extended, never shorter', async () => {
      const store = await bench().open();
      await store.signIns.add(signIn('a'));
      await store.signIns.add(signIn('b'));
      await store.signIns.extend([
        { id: 'a', expiresAt: START + 2 * TTL },
        { id: 'b', expiresAt: START + 1 },
      ]);
      expect((await store.signIns.list()).map(({ id, expiresAt }) => [id, expiresAt])).toEqual([
        ['b', START + TTL],
        ['a', START + 2 * TTL],
      ]);
    });

    it('that were removed are gone, also for who still extends them', async () => {
      const store = await bench().open();
      for (const id of ['a', 'b', 'c']) await store.signIns.add(signIn(id));
      await store.signIns.remove(['a', 'c', 'nobody']);
      await store.signIns.extend([{ id: 'a', expiresAt: START + 2 * TTL }]);
      expect(await store.signIns.list()).toEqual([signIn('b')]);
    });

    it('are pruned when their time is over, and of too many those unused for longest', async () => {
      const store = await bench().open({ limits: { signIns: { maxRows: 2 } } });
      await store.signIns.add(signIn('over', { expiresAt: START + 1 }));
      for (const id of ['a', 'b', 'c']) await store.signIns.add(signIn(id));
      const used = { id: 'a', expiresAt: START + TTL + 1 };
      await store.signIns.extend([used]);
      bench().now = START + 1;
      expect(store.signIns.most).toBe(2);
      expect(await store.prune()).toMatchObject({ signIns: 2 });
      expect(await store.signIns.list()).toEqual([signIn('c'), signIn('a', used)]);
      expect(await store.prune()).toMatchObject({ signIns: 0 });
    });
  });
}
