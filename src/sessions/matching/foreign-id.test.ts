import { afterEach, beforeEach, expect, it } from 'vitest';
import { asTurn, SessionsBench, said, user } from '../../../test/support/sessions-bench.js';
import { newSessionId } from '../persistence/session-factory.js';

let bench: SessionsBench;
beforeEach(async () => {
  bench = await SessionsBench.open();
});
afterEach(() => bench.close());

const FOREIGN = 'ses_6f2a91c3dffeRjQ0w8ZkLmN4pT';

it("a client's own session name is noted and never becomes a session id", async () => {
  const first = await bench.attach([user('a')], { id: FOREIGN });
  expect(first.note).toBe('foreign-session-id');
  expect(asTurn(first).id).not.toBe(FOREIGN);
  // Another request under the same name, as clients send for a title, is another conversation.
  const title = await bench.attach([user('A title for it')], { id: FOREIGN });
  expect(asTurn(title).id).not.toBe(asTurn(first).id);
});

it('a foreign id with a known history continues the session that has the history', async () => {
  const { id } = await bench.say([user('a')], 'A');
  const on = await bench.attach([user('a'), said('A'), user('b')], { id: FOREIGN });
  expect([asTurn(on).id, asTurn(on).how, on.note]).toEqual([id, 'continue', 'foreign-session-id']);
});

it('an id of a deleted session is refused, and an id of a live one is not noted', async () => {
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

it('an id of any form is known while the store holds it', async () => {
  const { store } = bench;
  const expiresAt = bench.clock.now + 1000;
  const row = { principal: 'alice', model: 'coder', engine: 'native', state: 'live', expiresAt } as const;
  await store.sessions.create({ id: 'an-older-form', ...row });
  await expect(bench.attach([user('a')], { id: 'an-older-form' })).rejects.toMatchObject({
    code: 'not_found',
  });
});
