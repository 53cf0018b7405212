import { describe, expect, it } from 'vitest';
import type { NewPushSubscription } from '../../../src/store/push.js';
import { type Bench, START } from './place.js';

const browser = (id: string, principal = 'alice'): NewPushSubscription => ({
  ...{
    id,
    principal,
    credential: `of ${principal}`,
    endpoint: `https://push.example/${id}`,
    p256dh: `key of ${id}`,
    auth: 'secret',
  },
});

export function pushContract(bench: () => Bench): void {
  describe('push subscriptions', () => {
    it('are kept for their key, and a browser that subscribes again is the same one', async () => {
      const { push } = await bench().open();
      await push.put(browser('b1'), 9);
      bench().now += 1;
      await push.put(browser('b2', 'bob'), 9);
      await push.put(browser('b1', 'carol'), 9);
      expect(await push.list()).toEqual([
        { ...browser('b1', 'carol'), createdAt: START + 1 },
        { ...browser('b2', 'bob'), createdAt: START + 1 },
      ]);
      expect(await push.list('alice')).toEqual([]);
      expect(await push.get('b2')).toMatchObject({ principal: 'bob' });
      expect(await push.remove('b2')).toBe(true);
      expect(await push.remove('b2')).toBe(false);
      expect(await push.get('b2')).toBeUndefined();
    });

    it('are a few of each key: the oldest go', async () => {
      const { push } = await bench().open();
      await push.put(browser('x', 'bob'), 2);
      for (const id of ['b1', 'b2', 'b3']) {
        bench().now += 1;
        await push.put(browser(id), 2);
      }
      expect((await push.list()).map(({ id }) => id)).toEqual(['x', 'b2', 'b3']);
    });
  });
}
