import { expect, it } from 'vitest';
import { ConversationHomes, conversationOf, HOME_LIMITS } from './conversation-homes.js';

const of = (key: string, more: object = {}) => ({ key, model: 'm', ...more });
const opening = (link: string | undefined) => ({ opening: () => link });

it('a conversation is known by its name, else by its opening; keys share neither', () => {
  const named = conversationOf(of('alice', { conversation: 'chat', ...opening('a') }));
  expect(conversationOf(of('alice', { conversation: 'chat', ...opening('b') }))).toBe(named);
  expect(conversationOf(of('bob', { conversation: 'chat' }))).not.toBe(named);
  const opened = conversationOf(of('alice', opening('a')));
  expect(conversationOf(of('alice', opening('a')))).toBe(opened);
  expect(conversationOf(of('bob', opening('a')))).not.toBe(opened);
  expect(conversationOf(of('alice', { conversation: 'a' }))).not.toBe(opened);
  expect(conversationOf(of('alice', opening(undefined)))).toBeUndefined();
  expect(conversationOf(of('alice'))).toBeUndefined();
});

it('tells who answered last, and who keeps an answer, of each key', () => {
  const homes = new ConversationHomes();
  homes.remember('alice', 'chat', 'one', 'resp_1');
  homes.remember('alice', 'chat', 'two', undefined);
  expect(homes.last('alice', 'chat')).toBe('two');
  expect(homes.last('bob', 'chat')).toBeUndefined();
  expect(homes.keeper(of('alice', { follows: 'resp_1' }))).toBe('one');
  expect(homes.keeper(of('bob', { follows: 'resp_1' }))).toBeUndefined();
  expect(homes.keeper(of('alice'))).toBeUndefined();
});

it('keeps what it knows of a key whatever another key does, and no more than its limits', () => {
  const homes = new ConversationHomes();
  homes.remember('alice', 'chat', 'one', undefined);
  for (let i = 0; i <= HOME_LIMITS.conversations; i++) homes.remember('bob', `${i}`, 'two', undefined);
  expect(homes.last('alice', 'chat')).toBe('one');
  expect(homes.last('bob', '0')).toBeUndefined();
  expect(homes.last('bob', '1')).toBe('two');
  for (let i = 0; i < HOME_LIMITS.keys; i++) homes.remember(`key ${i}`, 'chat', 'two', undefined);
  expect(homes.last('alice', 'chat')).toBeUndefined();
});
