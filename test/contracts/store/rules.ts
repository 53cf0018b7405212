import { describe, expect, it } from 'vitest';
import type { NewRule } from '../../../src/store/rules.js';
import { type Bench, START } from './place.js';

const made = (rule: string): Pick<NewRule, 'rule' | 'behaviour' | 'createdBy'> => ({
  rule,
  behaviour: 'allow',
  createdBy: 'alice',
});

export function rulesContract(bench: () => Bench): void {
  describe('rules', () => {
    it('lists what applies to a session and project, in the order made', async () => {
      const store = await bench().open();
      await store.rules.add({ ...made('A'), scope: 'everywhere' });
      await store.rules.add({ ...made('B'), scope: 'session', session: 's1' });
      await store.rules.add({ ...made('C'), scope: 'project', project: '/p', behaviour: 'deny' });
      await store.rules.add({ ...made('D'), scope: 'session', session: 's2', createdBy: 'bob' });
      await store.rules.add({ ...made('E'), scope: 'once', session: 's1' });
      const names = async (query?: Parameters<typeof store.rules.list>[0]) =>
        (await store.rules.list(query)).map(({ rule }) => rule).join('');
      expect(await names()).toBe('ABCDE');
      expect(await names({ appliesTo: { session: 's1', project: '/p' } })).toBe('ABCE');
      expect(await names({ appliesTo: { session: 's2' } })).toBe('AD');
      expect(await names({ appliesTo: {} })).toBe('A');
      expect(await names({ createdBy: 'bob' })).toBe('D');
    });

    it('gives back what was made', async () => {
      const store = await bench().open();
      const rule: NewRule = { ...made('Read(./.env)'), behaviour: 'deny', scope: 'project', project: '/p' };
      const added = await store.rules.add(rule);
      expect(added).toEqual({ ...rule, id: added.id, createdAt: START });
      expect(await store.rules.list()).toEqual([added]);
    });

    it('is revoked once', async () => {
      const store = await bench().open();
      const added = await store.rules.add({ ...made('A'), scope: 'once', session: 's1' });
      expect(await store.rules.revoke(added.id, 'used')).toEqual(added);
      expect(await store.rules.revoke(added.id, 'used')).toBeUndefined();
      expect(await store.rules.list()).toEqual([]);
    });

    it('has a revision that changes with every change and only then', async () => {
      const store = await bench().open();
      const seen = [await store.rules.revision()];
      const added = await store.rules.add({ ...made('A'), scope: 'everywhere' });
      seen.push(await store.rules.revision());
      await store.rules.list();
      await store.rules.revoke('nothing', 'alice');
      expect(await store.rules.revision()).toBe(seen[1]);
      await store.rules.revoke(added.id, 'alice');
      seen.push(await store.rules.revision());
      expect(new Set(seen).size).toBe(3);
    });

    it('is in the audit log when it comes and when it goes', async () => {
      const store = await bench().open();
      const added = await store.rules.add({ ...made('A'), scope: 'project', project: '/p' });
      await store.rules.revoke(added.id, 'bob');
      const { items } = await store.audit.list({ limit: 9, principal: 'alice' });
      expect(items.map(({ event, by, rule, what }) => [event, by, rule, what])).toEqual([
        ['rule.revoked', 'bob', 'A', 'allow project /p'],
        ['rule.added', 'alice', 'A', 'allow project /p'],
      ]);
    });
  });
}
