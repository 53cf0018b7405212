import { afterEach, beforeEach, expect, it } from 'vitest';
import { asTurn, SessionsBench, said, user } from '../../test/support/sessions-bench.js';
import { newSessionId } from './matching/session-id.js';

let bench: SessionsBench;
beforeEach(async () => {
  bench = await SessionsBench.open();
});
afterEach(() => bench.close());

const FOREIGN = 'ses_6f2a91c3dffeRjQ0w8ZkLmN4pT';

it("a client's own name is noted and never becomes a session's", async () => {
  const first = await bench.attach([user('a')], { id: FOREIGN });
  expect(first.note).toBe('foreign-session-id');
  expect(asTurn(first).id).not.toBe(FOREIGN);
  // Another request under the same name, as clients send for a title, is another conversation.
  const title = await bench.attach([user('A title for it')], { id: FOREIGN });
  expect(asTurn(title).id).not.toBe(asTurn(first).id);
});

it('with a history behind it goes on with the session that has it', async () => {
  const { id } = await bench.say([user('a')], 'A');
  const on = await bench.attach([user('a'), said('A'), user('b')], { id: FOREIGN });
  expect([asTurn(on).id, asTurn(on).how, on.note]).toEqual([id, 'continue', 'foreign-session-id']);
});

it('one that was given out and is gone is refused, and noted is nothing of one that is there', async () => {
  await expect(bench.attach([user('a')], { id: newSessionId() })).rejects.toMatchObject({
    code: 'not_found',
    detail: 'session_not_found',
  });
  const { id } = await bench.say([user('a')], 'A');
  expect((await bench.attach([user('b')], { id })).note).toBeUndefined();
  await expect(bench.attach([user('c')], { id, principal: 'bob' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

it('one of any form that the store holds is known', async () => {
  const { store } = bench;
  const expiresAt = bench.clock.now + 1000;
  const row = { principal: 'alice', model: 'coder', engine: 'native', state: 'live', expiresAt } as const;
  await store.sessions.create({ id: 'an-older-form', ...row });
  await expect(bench.attach([user('a')], { id: 'an-older-form' })).rejects.toMatchObject({
    code: 'not_found',
  });
});
