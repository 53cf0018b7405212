import { describe, expect, it } from 'vitest';
import type { DeliveryClaim, NewDelivery } from '../../../src/store/outbox.js';
import { type Bench, START } from './place.js';

export const delivery = (id: string, more: Partial<NewDelivery> = {}): NewDelivery => ({
  id,
  target: 'hook',
  event: 'approval.asked',
  subject: `about ${id}`,
  principal: 'alice',
  payload: { type: 'approval.asked', data: { text: 'ünï ☃', n: 1 } },
  ...more,
});

export const claimOf = (owner: string, more: Partial<DeliveryClaim> = {}): DeliveryClaim => ({
  owner,
  leaseMs: 1000,
  limit: 10,
  except: [],
  ...more,
});

const idsOf = (found: readonly { id: string }[]): string[] => found.map(({ id }) => id).sort();

export function outboxContract(bench: () => Bench): void {
  describe('outbox', () => {
    it('keeps a message exactly, and takes an id once', async () => {
      const { outbox } = await bench().open();
      expect(await outbox.put([delivery('m1'), delivery('m2')])).toBe(2);
      expect(await outbox.put([delivery('m2', { target: 'other' }), delivery('m3')])).toBe(1);
      expect(await outbox.get('m2')).toEqual({
        ...delivery('m2'),
        state: 'waiting',
        attempts: 0,
        createdAt: START,
        dueAt: START,
      });
      expect(await outbox.get('m9')).toBeUndefined();
      expect(await outbox.put([])).toBe(0);
    });

    it('gives a message to one owner until the claim is over, and counts each claim', async () => {
      const { outbox } = await bench().open();
      await outbox.put([delivery('m1')]);
      expect(await outbox.claim(claimOf('a'))).toMatchObject([{ id: 'm1', attempts: 1 }]);
      expect(await outbox.claim(claimOf('b'))).toEqual([]);
      expect(await outbox.nextDue([])).toBe(START + 1000);
      bench().now += 1000;
      expect(await outbox.claim(claimOf('b'))).toMatchObject([{ id: 'm1', attempts: 2 }]);
      expect(await outbox.settle('m1', 'a', { state: 'sent' })).toBe(false);
      expect(await outbox.settle('m1', 'b', { state: 'sent', reference: { ts: '1.2' } })).toBe(true);
      expect(await outbox.settle('m1', 'b', { state: 'failed', error: 'x' })).toBe(false);
      expect(await outbox.get('m1')).toMatchObject({
        state: 'sent',
        reference: { ts: '1.2' },
        endedAt: START + 1000,
      });
      expect(await outbox.nextDue([])).toBeUndefined();
    });

    it('tries again when the message is due, and keeps why it failed', async () => {
      const { outbox } = await bench().open({ redact: (text) => text.replaceAll('hush', '***') });
      await outbox.put([delivery('m1', { dueAt: START + 10 })]);
      expect(await outbox.claim(claimOf('a'))).toEqual([]);
      expect(await outbox.nextDue([])).toBe(START + 10);
      bench().now += 10;
      await outbox.claim(claimOf('a'));
      const again = { state: 'waiting', dueAt: START + 500, error: `hush ${'x'.repeat(600)}` } as const;
      expect(await outbox.settle('m1', 'a', again)).toBe(true);
      expect(await outbox.claim(claimOf('a'))).toEqual([]);
      expect((await outbox.get('m1'))?.error).toMatch(/^\*\*\* x{496}$/);
      bench().now = START + 500;
      expect(idsOf(await outbox.claim(claimOf('a')))).toEqual(['m1']);
    });

    it('leaves out targets that have enough in flight', async () => {
      const { outbox } = await bench().open();
      await outbox.put([delivery('m1', { target: 'slow' }), delivery('m2')]);
      expect(await outbox.nextDue(['slow', 'hook'])).toBeUndefined();
      expect(idsOf(await outbox.claim(claimOf('a', { except: ['slow'] })))).toEqual(['m2']);
      expect(idsOf(await outbox.claim(claimOf('a', { limit: 1 })))).toEqual(['m1']);
    });

    it('keeps the order of messages about one subject to one target', async () => {
      const { outbox } = await bench().open();
      const about = { subject: 'apr_1' };
      await outbox.put([
        delivery('m1', about),
        delivery('m2', { ...about, event: 'approval.decided' }),
        delivery('m3', { ...about, target: 'other' }),
      ]);
      expect(idsOf(await outbox.claim(claimOf('a')))).toEqual(['m1', 'm3']);
      expect(await outbox.claim(claimOf('b'))).toEqual([]);
      await outbox.settle('m1', 'a', { state: 'failed', error: 'gone' });
      expect(idsOf(await outbox.claim(claimOf('b')))).toEqual(['m2']);
      expect((await outbox.about('apr_1')).map(({ id }) => id)).toEqual(['m1', 'm2', 'm3']);
    });

    it('knows what nothing was said of the end of, and takes claims from who is gone', async () => {
      const { outbox } = await bench().open();
      await outbox.put([
        delivery('m1', { subject: 's1' }),
        delivery('m2', { subject: 's2' }),
        delivery('m3', { subject: 's1', event: 'approval.decided' }),
        delivery('m4', { subject: 's3', event: 'approval.decided' }),
        delivery('m5', { subject: 's4' }),
      ]);
      expect(await outbox.unended('approval.asked', 9)).toEqual(['s2', 's4']);
      expect(await outbox.unended('approval.asked', 1)).toEqual(['s2']);
      await outbox.claim(claimOf('a', { limit: 1 }));
      expect(await outbox.claimants()).toEqual(['a']);
      expect(await outbox.release('a')).toBe(1);
      expect(await outbox.claimants()).toEqual([]);
      expect(await outbox.claim(claimOf('b', { limit: 1 }))).toMatchObject([{ id: 'm1', attempts: 2 }]);
    });

    it('drops what nobody needs, but not what is being sent', async () => {
      const { outbox } = await bench().open();
      const about = { subject: 'apr_1' };
      await outbox.put([
        delivery('m1', about),
        delivery('m2', { ...about, target: 'late', dueAt: START + 99 }),
      ]);
      await outbox.put([delivery('m3', { ...about, target: 'kept', dueAt: START + 99 })]);
      await outbox.claim(claimOf('a'));
      expect(await outbox.withdraw('apr_1', ['hook', 'late'])).toBe(1);
      expect((await outbox.about('apr_1')).map(({ state }) => state)).toEqual([
        'waiting',
        'dropped',
        'waiting',
      ]);
      expect(await outbox.settle('m1', 'a', { state: 'sent' })).toBe(true);
    });

    it('says how each target does', async () => {
      const { outbox } = await bench().open();
      await outbox.put([
        delivery('m1'),
        delivery('m2', { target: 'bad' }),
        delivery('m3', { target: 'bad', dueAt: START + 99 }),
      ]);
      await outbox.claim(claimOf('a'));
      await outbox.settle('m1', 'a', { state: 'sent' });
      await outbox.settle('m2', 'a', { state: 'failed', error: 'It answered 500.' });
      expect(await outbox.targets()).toEqual([
        {
          target: 'bad',
          waiting: 1,
          failed: 1,
          failing: { error: 'It answered 500.', attempts: 1 },
        },
        { target: 'hook', waiting: 0, failed: 0, lastSentAt: START },
      ]);
      bench().now += 99;
      await outbox.claim(claimOf('a'));
      await outbox.settle('m3', 'a', { state: 'sent' });
      expect(await outbox.targets()).toMatchObject([{ target: 'bad', lastSentAt: START + 99 }, {}]);
      expect((await outbox.targets())[0]).not.toHaveProperty('failing');
    });

    it('is pruned of what has ended, never of what waits', async () => {
      const { outbox, prune } = await openWithPrune(bench());
      await outbox.put([delivery('m1'), delivery('m2', { dueAt: START + 5000 })]);
      await outbox.claim(claimOf('a'));
      await outbox.settle('m1', 'a', { state: 'sent' });
      bench().now += 1001;
      expect(await prune()).toMatchObject({ outbox: 1 });
      expect(await outbox.get('m1')).toBeUndefined();
      expect(await outbox.get('m2')).toBeDefined();
    });

    it('makes a secret once for all who ask', async () => {
      const { secrets } = await bench().open();
      const answers = await Promise.all(
        ['one', 'two', 'three'].map((value) => secrets.ensure('vapid', value)),
      );
      expect(new Set(answers).size).toBe(1);
      expect(await secrets.ensure('vapid', 'four')).toBe(answers[0]);
      expect(await secrets.ensure('other', 'five')).toBe('five');
    });
  });
}

async function openWithPrune(bench: Bench) {
  const store = await bench.open({ limits: { outbox: { maxAgeMs: 1000 } } });
  return { outbox: store.outbox, prune: () => store.prune() };
}
