import { describe, expect, it } from 'vitest';
import type { NewKey } from '../../../src/store/keys.js';
import { type Bench, START, TTL } from './place.js';

const made = (name: string, more: Partial<NewKey> = {}): NewKey => ({
  name,
  digest: `digest of ${name}`,
  start: `tg_${name}`,
  scopes: ['call'],
  models: ['*'],
  ...more,
});

async function added(bench: Bench, key: NewKey) {
  const store = await bench.open();
  const stored = await store.keys.add(key, 'root');
  if (stored === undefined) throw new Error('the name is taken');
  return { store, stored };
}

export function keysContract(bench: () => Bench): void {
  describe('keys', () => {
    it('gives back what was made', async () => {
      const key = made('alice', {
        user: 'Alice',
        team: 'web',
        scopes: ['call', 'approve'],
        models: ['gpt-*', 'coder'],
        workspaces: ['/srv/web'],
        rpm: 60,
        tpm: 1000,
        maxStreams: 3,
        budget: { usd: 2.5, per: 'week', onUnknown: 'deny' },
        expiresAt: START + TTL,
      });
      const { store, stored } = await added(bench(), key);
      expect(stored).toEqual({ ...key, id: stored.id, createdAt: START, createdBy: 'root' });
      expect(await store.keys.list()).toEqual([stored]);
    });

    it('are listed in the order made, also what expired and what was revoked', async () => {
      const { store, stored } = await added(bench(), made('c', { expiresAt: START + 1 }));
      await store.keys.add(made('a'), 'root');
      await store.keys.add(made('b'), 'root');
      bench().now = START + 5;
      await store.keys.revoke(stored.id, 'root');
      expect((await store.keys.list()).map(({ name, revokedAt }) => [name, revokedAt])).toEqual([
        ['c', START + 5],
        ['a', undefined],
        ['b', undefined],
      ]);
    });

    it('has a name that no other key has, until it is revoked', async () => {
      const { store, stored } = await added(bench(), made('alice', { expiresAt: START + 1 }));
      bench().now = START + 2;
      expect(await store.keys.add(made('alice', { digest: 'd2' }), 'root')).toBeUndefined();
      await store.keys.revoke(stored.id, 'root');
      const again = await store.keys.add(made('alice', { digest: 'd2' }), 'root');
      expect(again).toMatchObject({ name: 'alice', digest: 'd2' });
      expect(again?.id).not.toBe(stored.id);
    });

    it('takes one of two with the same name that come at once', async () => {
      const store = await bench().open();
      const both = ['one', 'two'].map((digest) => store.keys.add(made('alice', { digest }), 'root'));
      const outcomes = await Promise.all(both);
      expect(outcomes.filter((key) => key !== undefined)).toHaveLength(1);
      expect(await store.keys.list()).toHaveLength(1);
    });

    it('rotates to a new secret; the one before goes at once', async () => {
      const { store, stored } = await added(bench(), made('alice', { expiresAt: START + TTL }));
      bench().now = START + 5;
      const rotated = await store.keys.rotate(stored.id, { digest: 'new', start: 'tg_new' }, 'root');
      expect(rotated).toEqual({ ...stored, digest: 'new', start: 'tg_new', rotatedAt: START + 5 });
      expect(await store.keys.list()).toEqual([rotated]);
    });

    it('keeps the secret before for as long as a rotation says, and a later one does not keep it', async () => {
      const { store, stored } = await added(bench(), made('alice'));
      const first = { digest: 'd1', start: 's1', previousUntil: START + TTL, expiresAt: START + 2 * TTL };
      expect(await store.keys.rotate(stored.id, first, 'root')).toMatchObject({
        digest: 'd1',
        previous: { digest: stored.digest, until: START + TTL },
        expiresAt: START + 2 * TTL,
      });
      const second = await store.keys.rotate(stored.id, { digest: 'd2', start: 's2' }, 'root');
      expect(second).toMatchObject({ digest: 'd2', expiresAt: START + 2 * TTL });
      expect(second).not.toHaveProperty('previous');
    });

    it('is revoked once, with the secret before', async () => {
      const { store, stored } = await added(bench(), made('alice'));
      const rotation = { digest: 'd1', start: 's1', previousUntil: START + TTL };
      await store.keys.rotate(stored.id, rotation, 'root');
      const revoked = await store.keys.revoke(stored.id, 'root');
      expect(revoked).toMatchObject({ id: stored.id, revokedAt: START });
      expect(revoked).not.toHaveProperty('previous');
      expect(await store.keys.revoke(stored.id, 'root')).toBeUndefined();
      expect(await store.keys.rotate(stored.id, { digest: 'd2', start: 's2' }, 'root')).toBeUndefined();
      expect(await store.keys.revoke('nothing', 'root')).toBeUndefined();
    });

    it('has a revision that changes with every change and only then', async () => {
      const store = await bench().open();
      const seen = [await store.keys.revision()];
      const key = await store.keys.add(made('alice'), 'root');
      seen.push(await store.keys.revision());
      await store.keys.add(made('alice', { digest: 'other' }), 'root');
      await store.keys.revoke('nothing', 'root');
      await store.keys.list();
      expect(await store.keys.revision()).toBe(seen[1]);
      await store.keys.rotate(key?.id ?? '', { digest: 'd', start: 's' }, 'root');
      seen.push(await store.keys.revision());
      await store.keys.revoke(key?.id ?? '', 'root');
      seen.push(await store.keys.revision());
      expect(new Set(seen).size).toBe(4);
    });

    it('is in the audit log with every change, without its digest', async () => {
      const { store, stored } = await added(bench(), made('alice', { models: ['gpt-*'] }));
      await store.keys.rotate(stored.id, { digest: 'd1', start: 'tg_1' }, 'bob');
      await store.keys.revoke(stored.id, 'carol');
      const { items } = await store.audit.list({ limit: 9, principal: 'alice' });
      expect(items.map(({ event, by, what }) => [event, by, what])).toEqual([
        ['key.revoked', 'carol', 'alice (tg_1…): call on gpt-*; no expiry'],
        ['key.rotated', 'bob', 'alice (tg_1…): call on gpt-*; no expiry'],
        ['key.created', 'root', 'alice (tg_alice…): call on gpt-*; no expiry'],
      ]);
    });

    it('are pruned when they are revoked and too many; the newest of these and every other one stay', async () => {
      const store = await bench().open({ limits: { keys: { maxRows: 1 } } });
      for (const name of ['a', 'b', 'c', 'd']) {
        const key = await store.keys.add(made(name, { expiresAt: START + 1 }), 'root');
        if (name < 'c') await store.keys.revoke(key?.id ?? '', 'root');
      }
      bench().now = START + TTL;
      expect(await store.prune()).toMatchObject({ keys: 1 });
      expect((await store.keys.list()).map(({ name }) => name)).toEqual(['b', 'c', 'd']);
    });
  });
}
