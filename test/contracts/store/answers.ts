import { describe, expect, it } from 'vitest';
import { type Bench, ownSession, START, TTL } from './place.js';

const answer = {
  principal: 'alice',
  key: 'idempotency:1',
  digest: 'd1',
  body: { id: 'msg' },
  expiresAt: START + TTL,
};

export function answersContract(bench: () => Bench): void {
  describe('recorded answers', () => {
    it('gives the first answer again', async () => {
      const store = await bench().open();
      expect(await store.answers.put(answer)).toEqual({ recorded: true });
      const existing = { ...answer, createdAt: START };
      expect(await store.answers.get('alice', 'idempotency:1')).toEqual(existing);
      bench().now += 1;
      const second = { ...answer, digest: 'd2', body: 'other' };
      expect(await store.answers.put(second)).toEqual({ recorded: false, existing });
    });

    it('keeps principals apart', async () => {
      const store = await bench().open();
      await store.answers.put(answer);
      expect(await store.answers.get('bob', 'idempotency:1')).toBeUndefined();
      expect(await store.answers.put({ ...answer, principal: 'bob' })).toEqual({ recorded: true });
    });

    it('forgets at the time given, and takes a new one then', async () => {
      const store = await bench().open();
      await store.answers.put(answer);
      bench().now = START + TTL;
      expect(await store.answers.get('alice', 'idempotency:1')).toBeUndefined();
      const next = { ...answer, body: 'second', expiresAt: START + 2 * TTL };
      expect(await store.answers.put(next)).toEqual({ recorded: true });
      expect((await store.answers.get('alice', 'idempotency:1'))?.body).toBe('second');
    });

    it('keeps one for longer, and wakes none that is gone', async () => {
      const store = await bench().open();
      await store.answers.put(answer);
      expect(await store.answers.extend('bob', answer.key, START + 3 * TTL)).toBe(false);
      expect(await store.answers.extend('alice', answer.key, START + 3 * TTL)).toBe(true);
      bench().now = START + 2 * TTL;
      expect(await store.answers.get('alice', answer.key)).toMatchObject({
        body: answer.body,
        createdAt: START,
        expiresAt: START + 3 * TTL,
      });
      bench().now = START + 3 * TTL;
      expect(await store.answers.extend('alice', answer.key, START + 4 * TTL)).toBe(false);
      expect(await store.answers.get('alice', answer.key)).toBeUndefined();
    });

    it('deletes on demand', async () => {
      const store = await bench().open();
      await store.answers.put(answer);
      expect(await store.answers.delete('bob', 'idempotency:1')).toBe(false);
      expect(await store.answers.delete('alice', 'idempotency:1')).toBe(true);
      expect(await store.answers.get('alice', 'idempotency:1')).toBeUndefined();
    });

    it('is dropped with a step, whole or not at all', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await store.answers.put({ ...answer, principal: 'bob' });
      const made = { key: answer.key, digest: 'd', body: [1], expiresAt: START + TTL };
      expect(await step({ dropAnswer: answer.key, answer: made })).toEqual({ ok: true });
      const refused = await step({ dropAnswer: answer.key, use: ['none'] });
      expect(refused).toEqual({ ok: false, reason: 'unusable', ids: ['none'] });
      expect((await store.answers.get('alice', answer.key))?.body).toEqual([1]);
      expect(await step({ dropAnswer: answer.key })).toEqual({ ok: true });
      expect(await store.answers.get('alice', answer.key)).toBeUndefined();
      expect((await store.answers.get('bob', answer.key))?.body).toEqual(answer.body);
    });

    it('is written with the step that made it, once', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      const made = { key: 'request:1', digest: 'd', body: [1], expiresAt: START + TTL };
      expect(await step({ answer: made })).toEqual({ ok: true });
      expect(await store.answers.get('alice', 'request:1')).toMatchObject({ session: 's1', body: [1] });
      expect(await step({ answer: made, state: 'parked' })).toEqual({ ok: false, reason: 'answered' });
      expect((await store.sessions.get('s1'))?.state).toBe('live');
    });
  });
}
