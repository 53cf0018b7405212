import { describe, expect, it, vi } from 'vitest';
import { memorySessions } from '../../../../test/support/native-engine-bench.js';
import { AnswerMemory } from '../../../answers/answer-memory.js';
import {
  changeConversation,
  createConversation,
  findConversation,
  forgetConversation,
  ownConversation,
  recallConversation,
  withIds,
} from './conversation-memory.js';

const DAY_MS = 24 * 3600 * 1000;
const says = (text: string) => withIds([{ role: 'user', content: text }]);

async function open() {
  const { store } = await memorySessions();
  return { store, answers: new AnswerMemory(store.answers) };
}

const texts = async (id: string, answers: AnswerMemory) =>
  (await findConversation(id, 'alice', answers))?.items.map(({ item }) => item['content']);

describe('a conversation that is kept', () => {
  it('has every item of two gateways that add at once', async () => {
    const { store, answers } = await open();
    const other = new AnswerMemory(store.answers);
    const id = await createConversation('alice', {}, answers);
    const numbers = Array.from({ length: 20 }, (_, index) => String(index));
    await Promise.all(
      numbers.map((text, index) =>
        changeConversation(id, 'alice', { items: says(text) }, index % 2 === 0 ? answers : other),
      ),
    );
    expect((await texts(id, answers))?.toSorted()).toEqual(numbers.toSorted());
    expect(await texts(id, new AnswerMemory(store.answers))).toEqual(await texts(id, answers));
  });

  it('is found by the request after a change that is still being written', async () => {
    const { answers } = await open();
    const id = await createConversation('alice', {}, answers);
    const adding = changeConversation(id, 'alice', { items: says('hello') }, answers);
    expect(await texts(id, answers)).toEqual(['hello']);
    await adding;
  });

  it("is nobody else's, and nothing once it is deleted", async () => {
    const { answers } = await open();
    const id = await createConversation('alice', {}, answers);
    await changeConversation(id, 'alice', { items: says('secret') }, answers);
    expect(await findConversation(id, 'bob', answers)).toBeUndefined();
    expect(await forgetConversation(id, 'bob', answers)).toBe(false);
    await expect(changeConversation(id, 'bob', { items: says('x') }, answers)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(recallConversation({ conversation: id }, 'bob', answers)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await forgetConversation(id, 'alice', answers)).toBe(true);
    expect(await findConversation(id, 'alice', answers)).toBeUndefined();
    await expect(recallConversation({ conversation: id }, 'alice', answers)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is not shared by two end users of one key', async () => {
    const { answers } = await open();
    const id = await createConversation('alice', {}, answers);
    const first = await recallConversation(
      { conversation: { id }, input: 'hi', user: 'u1' },
      'alice',
      answers,
    );
    expect(first).toMatchObject({ $conversation: id, user: 'u1' });
    const { endUserIn } = await import('./forwarded-owners.js');
    const user = endUserIn({ user: 'u1' }) ?? '';
    await changeConversation(id, 'alice', { items: says('hi'), user, said: true }, answers);
    expect(
      await recallConversation({ conversation: id, input: 'x', user: 'u1' }, 'alice', answers),
    ).toMatchObject({
      input: [{ content: 'hi' }, { role: 'user' }],
    });
    for (const more of [{ user: 'u2' }, {}]) {
      await expect(
        recallConversation({ conversation: id, input: 'x', ...more }, 'alice', answers),
      ).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('stays as long as it is used, and goes thirty days after', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const { answers } = await open();
      const id = await createConversation('alice', {}, answers);
      await changeConversation(id, 'alice', { items: says('old') }, answers);
      for (let twice = 0; twice < 4; twice += 1) {
        vi.setSystemTime(Date.now() + 20 * DAY_MS);
        expect(await texts(id, answers)).toEqual(['old']);
      }
      vi.setSystemTime(Date.now() + 31 * DAY_MS);
      expect(await findConversation(id, 'alice', answers)).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it('loses no turn in its middle that is older than others', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const { answers } = await open();
      const id = await createConversation('alice', {}, answers);
      for (const [days, text] of [
        [10, 'first'],
        [6, 'second'],
        [25, 'third'],
      ] as const) {
        vi.setSystemTime(Date.now() + days * DAY_MS);
        await changeConversation(id, 'alice', { items: says(text) }, answers);
      }
      expect(await texts(id, answers)).toEqual(['first', 'second', 'third']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('takes no more than every turn can read', async () => {
    const { answers } = await open();
    const id = await createConversation('alice', {}, answers);
    const third = 'x'.repeat(11 * 1024 * 1024);
    for (const _ of [1, 2]) await changeConversation(id, 'alice', { items: says(third) }, answers);
    await expect(changeConversation(id, 'alice', { items: says(third) }, answers)).rejects.toMatchObject({
      code: 'too_large',
    });
    expect(await texts(id, answers)).toHaveLength(2);
  });

  it('is recalled for a client that writes out the fields that it leaves empty', async () => {
    const { answers } = await open();
    const id = await createConversation('alice', {}, answers);
    await changeConversation(id, 'alice', { items: says('before') }, answers);
    const body = { conversation: id, previous_response_id: null, input: 'now' };
    expect(await recallConversation(body, 'alice', answers)).toMatchObject({
      input: [{ content: 'before' }, expect.anything()],
    });
  });

  it('is known from its id: a provider has others', () => {
    expect(ownConversation({ conversation: 'conv_68c1f3' })).toBeUndefined();
    expect(ownConversation({ conversation: { id: `conv_tg${'0'.repeat(32)}` } })).toBeDefined();
    expect(ownConversation({ conversation: `conv_tg${'0'.repeat(32)}:1` })).toBeUndefined();
  });
});
