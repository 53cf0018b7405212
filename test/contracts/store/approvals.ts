import { describe, expect, it } from 'vitest';
import type { NewApproval } from '../../../src/store/approvals.js';
import { allPages, type Bench, START, TTL } from './place.js';

export const approval = (id: string, more: Partial<NewApproval> = {}): NewApproval => ({
  id,
  session: 's1',
  principal: 'alice',
  toolUseId: `use-${id}`,
  tool: 'Bash',
  input: { command: 'rm -r build', b: 1, a: 2 },
  describe: { title: 'rm -r build' },
  suggestions: [{ rule: 'Bash(rm -r build)', scope: 'session' }],
  digest: `digest-${id}`,
  expiresAt: START + TTL,
  ...more,
});

export const allow = (id: string, by = 'alice') => ({
  state: 'allowed' as const,
  digest: `digest-${id}`,
  by,
  via: 'api',
});

export const deny = (id: string, by = 'bob') => ({
  state: 'denied' as const,
  digest: `digest-${id}`,
  by,
  via: 'console',
  reason: 'not now',
});

export function approvalsContract(bench: () => Bench): void {
  describe('approvals', () => {
    it('is pending, exactly as it was asked', async () => {
      const store = await bench().open();
      const asked = approval('a1', { agent: 'agent-7' });
      const pending = { ...asked, state: 'pending', createdAt: START };
      expect(await store.approvals.create(asked)).toEqual({ created: true, approval: pending });
      expect(await store.approvals.get('a1')).toEqual(pending);
      expect(await store.approvals.get('a2')).toBeUndefined();
    });

    it('asks once for a call, also after it was decided', async () => {
      const store = await bench().open();
      await store.approvals.create(approval('a1'));
      await store.approvals.decide('a1', deny('a1'));
      const again = await store.approvals.create(approval('a2', { toolUseId: 'use-a1' }));
      expect(again).toMatchObject({ created: false, approval: { id: 'a1', state: 'denied' } });
      const sub = await store.approvals.create(approval('a3', { toolUseId: 'use-a1', agent: 'sub' }));
      expect(sub.created).toBe(true);
    });

    it('counts those that wait in each of many sessions at once', async () => {
      const store = await bench().open();
      await store.approvals.create(approval('a1'));
      await store.approvals.create(approval('a2'));
      await store.approvals.create(approval('b1', { session: 's2' }));
      await store.approvals.create(approval('c1', { session: 's3' }));
      await store.approvals.decide('b1', allow('b1'));
      const waiting = await store.approvals.waiting(['s1', 's2', 's9']);
      expect(waiting).toEqual(new Map([['s1', 2]]));
    });

    it('takes the first decision and tells the second who, what and when', async () => {
      const store = await bench().open();
      await store.approvals.create(approval('a1'));
      bench().now += 5;
      const verdict = { ...allow('a1'), updatedInput: { command: 'ls' } };
      const decision = { at: START + 5, by: 'alice', via: 'api', updatedInput: { command: 'ls' } };
      expect(await store.approvals.decide('a1', verdict)).toMatchObject({
        outcome: 'decided',
        approval: { state: 'allowed', decision },
      });
      bench().now += 5;
      const late = await store.approvals.decide('a1', deny('a1'));
      expect(late).toMatchObject({ outcome: 'already', approval: { state: 'allowed' } });
      expect(late.outcome !== 'unknown' && late.approval.decision).toEqual(decision);
      expect((await store.approvals.get('a1'))?.state).toBe('allowed');
    });

    it('takes no decision about something else than was shown', async () => {
      const store = await bench().open();
      await store.approvals.create(approval('a1'));
      const wrong = await store.approvals.decide('a1', { ...deny('a1'), digest: 'other' });
      expect(wrong).toMatchObject({ outcome: 'mismatch', approval: { state: 'pending' } });
      expect((await store.approvals.get('a1'))?.state).toBe('pending');
    });

    it('says so when there is none', async () => {
      const store = await bench().open();
      expect(await store.approvals.decide('a1', allow('a1'))).toEqual({ outcome: 'unknown' });
      expect(await store.approvals.extend('a1', START, 'alice')).toEqual({ outcome: 'unknown' });
      expect(await store.approvals.use('a1')).toBe(false);
    });

    it('expires honestly: a late decision finds it expired, not denied', async () => {
      const store = await bench().open();
      await store.approvals.create(approval('a1'));
      bench().now = START + TTL;
      expect(await store.approvals.decide('a1', allow('a1'))).toMatchObject({
        outcome: 'expired',
        approval: { state: 'expired', decision: { at: START + TTL, by: 'expiry' } },
      });
      expect(await store.approvals.decide('a1', allow('a1'))).toMatchObject({ outcome: 'expired' });
      expect(await store.approvals.expireDue()).toEqual([]);
    });

    it('expires all that is due, each once, and nothing without a clock', async () => {
      const store = await bench().open();
      for (let n = 0; n < 230; n++) await store.approvals.create(approval(`a${n}`));
      const { expiresAt: _, ...question } = approval('question');
      await store.approvals.create(question);
      await store.approvals.create(approval('later', { expiresAt: START + 2 * TTL }));
      await store.approvals.decide('a0', allow('a0'));
      expect(await store.approvals.expireDue()).toEqual([]);
      bench().now = START + TTL;
      const expired = await store.approvals.expireDue();
      expect(new Set(expired.map(({ id }) => id)).size).toBe(229);
      expect(expired.every(({ state }) => state === 'expired')).toBe(true);
      expect(await store.approvals.expireDue()).toEqual([]);
      const waiting = await store.approvals.list({ state: 'pending', limit: 10 });
      expect(waiting.items.map(({ id }) => id)).toEqual(['later', 'question']);
    });

    it('is extended while it waits, never shortened, never revived', async () => {
      const store = await bench().open();
      await store.approvals.create(approval('a1'));
      const { expiresAt: _, ...question } = approval('question');
      await store.approvals.create(question);
      const until = START + 3 * TTL;
      expect(await store.approvals.extend('a1', until, 'bob')).toMatchObject({
        outcome: 'extended',
        approval: { expiresAt: until },
      });
      expect(await store.approvals.extend('a1', START + TTL, 'bob')).toMatchObject({
        approval: { expiresAt: until },
      });
      const clockless = await store.approvals.extend('question', until, 'bob');
      expect(clockless.outcome === 'extended' && clockless.approval.expiresAt).toBeUndefined();
      bench().now = START + 2 * TTL;
      expect(await store.approvals.expireDue()).toEqual([]);
      bench().now = until;
      expect(await store.approvals.extend('a1', until + TTL, 'bob')).toMatchObject({ outcome: 'expired' });
      expect((await store.approvals.get('a1'))?.state).toBe('expired');
      await store.approvals.decide('question', allow('question'));
      expect(await store.approvals.extend('question', until, 'bob')).toMatchObject({ outcome: 'already' });
    });

    it('is used once, and only when allowed', async () => {
      const store = await bench().open();
      for (const id of ['yes', 'no', 'open', 'rule']) await store.approvals.create(approval(id));
      await store.approvals.decide('yes', allow('yes'));
      await store.approvals.decide('no', deny('no'));
      await store.approvals.decide('rule', { state: 'covered', rule: 'Bash', by: 'rule', via: 'gateway' });
      bench().now += 2;
      expect(await store.approvals.use('yes')).toBe(true);
      expect(await store.approvals.use('yes')).toBe(false);
      expect(await store.approvals.use('rule')).toBe(true);
      expect(await store.approvals.use('no')).toBe(false);
      expect(await store.approvals.use('open')).toBe(false);
      expect((await store.approvals.get('yes'))?.usedAt).toBe(START + 2);
    });

    it('writes the rule of the decision that won, and only that', async () => {
      const store = await bench().open();
      await store.approvals.create(approval('a1'));
      const rule = {
        scope: 'session',
        session: 's1',
        rule: 'Bash(ls)',
        behaviour: 'allow',
        createdBy: 'alice',
      } as const;
      const verdict = { ...allow('a1'), rules: [rule, { ...rule, rule: 'Bash(pwd)' }] };
      const decided = await store.approvals.decide('a1', verdict);
      expect(decided).toMatchObject({
        outcome: 'decided',
        approval: {
          decision: {
            rule: 'Bash(ls), Bash(pwd)',
            rules: [
              { rule: 'Bash(ls)', scope: 'session', behaviour: 'allow' },
              { rule: 'Bash(pwd)', scope: 'session', behaviour: 'allow' },
            ],
          },
        },
      });
      expect(await store.approvals.decide('a1', verdict)).toMatchObject({ outcome: 'already' });
      const rules = await store.rules.list();
      expect(rules).toEqual(decided.outcome === 'decided' && decided.rules);
      expect(rules[0]).toMatchObject(rule);
    });

    it('puts every decision in the audit log', async () => {
      const store = await bench().open();
      for (const id of ['a', 'b', 'c', 'd', 'e']) await store.approvals.create(approval(id));
      await store.approvals.decide('a', allow('a'));
      await store.approvals.decide('b', deny('b'));
      await store.approvals.decide('b', allow('b'));
      await store.approvals.decide('c', { state: 'cancelled', by: 'client', via: 'gateway', reason: 'gone' });
      await store.approvals.decide('d', { state: 'covered', rule: 'Bash(rm:*)', by: 'rule', via: 'gateway' });
      bench().now = START + TTL;
      await store.approvals.expireDue();
      const { items } = await store.audit.list({ limit: 20, session: 's1' });
      expect(items.map(({ event, by, why, rule }) => [event, by, why, rule]).reverse()).toEqual([
        ['approval.allowed', 'alice', undefined, undefined],
        ['approval.denied', 'bob', 'not now', undefined],
        ['approval.cancelled', 'client', 'gone', undefined],
        ['approval.covered', 'rule', undefined, 'Bash(rm:*)'],
        ['approval.expired', 'expiry', 'Nobody answered in time.', undefined],
      ]);
      expect(items.at(-1)).toMatchObject({ principal: 'alice', tool: 'Bash', toolUseId: 'use-a', what: 'a' });
    });

    it('lists by principal, session and state, newest first, in pages', async () => {
      const store = await bench().open();
      for (let n = 0; n < 9; n++) {
        await store.approvals.create(approval(`a${n}`, { principal: n % 2 === 0 ? 'alice' : 'bob' }));
      }
      await store.approvals.create(approval('x', { session: 's2' }));
      await store.approvals.decide('a4', allow('a4'));
      const query = { principal: 'alice', session: 's1', state: 'pending' } as const;
      const all = await allPages((cursor) =>
        store.approvals.list({ ...query, limit: 3, ...(cursor && { cursor }) }),
      );
      expect(all.map(({ id }) => id)).toEqual(['a8', 'a6', 'a2', 'a0']);
    });
  });
}
