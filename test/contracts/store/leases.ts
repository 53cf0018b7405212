import { describe, expect, it } from 'vitest';
import { sessionLease } from '../../../src/store/leases.js';
import { type Bench, TTL } from './place.js';

export function leasesContract(bench: () => Bench): void {
  describe('leases', () => {
    it('grants a free lease once, and says who holds it', async () => {
      const store = await bench().open();
      const first = await store.leases.acquire('session:s', 'node-a', TTL);
      expect(first).toMatchObject({ granted: true, lease: { owner: 'node-a', until: bench().now + TTL } });
      expect(await store.leases.acquire('session:s', 'node-b', TTL)).toEqual({
        granted: false,
        owner: 'node-a',
        until: bench().now + TTL,
      });
    });

    it('is not re-entrant: a second request of the same node is refused', async () => {
      const store = await bench().open();
      await store.leases.acquire('session:s', 'node-a', TTL);
      expect(await store.leases.acquire('session:s', 'node-a', TTL)).toMatchObject({ granted: false });
    });

    it('is taken over when it lapses, with a higher token', async () => {
      const store = await bench().open();
      const first = await store.leases.acquire('session:s', 'node-a', TTL);
      bench().now += TTL;
      const second = await store.leases.acquire('session:s', 'node-b', TTL);
      if (!first.granted || !second.granted) throw new Error('both should be granted');
      expect(second.lease.token).toBeGreaterThan(first.lease.token);
      expect(await store.leases.release(first.lease)).toBe(false);
      expect(await store.leases.acquire('session:s', 'node-c', TTL)).toMatchObject({ granted: false });
    });

    it('gives tokens that grow across release and across names', async () => {
      const store = await bench().open();
      const tokens: number[] = [];
      for (const name of ['a', 'b', 'a', 'a']) {
        const grant = await store.leases.acquire(name, 'node', TTL);
        if (!grant.granted) throw new Error('should be granted');
        tokens.push(grant.lease.token);
        expect(await store.leases.release(grant.lease)).toBe(true);
        expect(await store.leases.release(grant.lease)).toBe(false);
      }
      expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    });

    it('renews everything an owner still holds, and nothing else', async () => {
      const store = await bench().open();
      await store.leases.acquire('kept', 'node-a', TTL);
      await store.leases.acquire('lost', 'node-a', TTL / 2);
      await store.leases.acquire('other', 'node-b', TTL);
      bench().now += TTL / 2;
      await store.leases.acquire('lost', 'node-b', TTL);
      const renewed = await store.leases.renew('node-a', TTL);
      expect(renewed.map((lease) => [lease.name, lease.until])).toEqual([['kept', bench().now + TTL]]);
      bench().now += TTL / 2;
      expect(await store.leases.acquire('other', 'node-c', TTL)).toMatchObject({ granted: true });
      expect(await store.leases.acquire('kept', 'node-c', TTL)).toMatchObject({ granted: false });
    });

    it('says who holds what, as long as it is held', async () => {
      const store = await bench().open();
      await store.leases.acquire('one', 'node-a', TTL);
      await store.leases.acquire('two', 'node-b', TTL / 2);
      expect(await store.leases.holders(['one', 'two', 'three'])).toEqual(
        new Map([
          ['one', 'node-a'],
          ['two', 'node-b'],
        ]),
      );
      bench().now += TTL / 2;
      expect(await store.leases.holders(['two', 'one'])).toEqual(new Map([['one', 'node-a']]));
      expect(await store.leases.heldSessions()).toEqual(new Map());
      await store.leases.acquire(sessionLease('s1'), 'node-b', TTL);
      expect(await store.leases.heldSessions()).toEqual(new Map([['s1', 'node-b']]));
    });

    it('frees at once what a restarted node held', async () => {
      const store = await bench().open();
      await store.leases.acquire('one', 'node-a', TTL);
      await store.leases.acquire('two', 'node-a', TTL);
      await store.leases.acquire('three', 'node-b', TTL);
      expect(await store.leases.releaseAll('node-a')).toBe(2);
      expect(await store.leases.acquire('one', 'node-c', TTL)).toMatchObject({ granted: true });
      expect(await store.leases.acquire('three', 'node-c', TTL)).toMatchObject({ granted: false });
    });
  });
}
