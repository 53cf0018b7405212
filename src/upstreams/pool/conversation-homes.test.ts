import { expect, it } from 'vitest';
import { ConversationHomes, HOME_LIMITS } from './conversation-homes.js';

const of = (key: string, links: string[], more: object = {}) => ({
  key,
  model: 'm',
  history: () => links,
  ...more,
});

it('finds the home of a history that goes on, and of none that only begins alike', () => {
  const homes = new ConversationHomes();
  homes.remember(of('alice', ['a', 'b', 'c']), 'one', undefined);
  expect(homes.find(of('alice', ['a', 'b', 'c', 'd', 'e']))).toBe('one');
  expect(homes.find(of('alice', ['a', 'b', 'x']))).toBeUndefined();
  expect(homes.find(of('bob', ['a', 'b', 'c', 'd', 'e']))).toBeUndefined();
});

it('takes the newest home of a history that has moved', () => {
  const homes = new ConversationHomes();
  homes.remember(of('alice', ['a']), 'one', undefined);
  homes.remember(of('alice', ['a', 'b', 'c']), 'two', undefined);
  expect(homes.find(of('alice', ['a', 'b', 'c', 'd']))).toBe('two');
});

it('goes by the answer that is followed, then by the name, then by the history', () => {
  const homes = new ConversationHomes();
  homes.remember(of('alice', ['a'], { conversation: 'chat' }), 'one', 'resp_1');
  homes.remember(of('alice', ['a', 'b'], { conversation: 'other' }), 'two', undefined);
  expect(homes.find(of('alice', [], { conversation: 'chat' }))).toBe('one');
  expect(homes.find(of('alice', [], { conversation: 'other', follows: 'resp_1' }))).toBe('one');
  expect(homes.find(of('alice', ['a', 'b', 'c']))).toBeUndefined();
});

it('keeps the homes of a key whatever another key does, and no more than its limits', () => {
  const homes = new ConversationHomes();
  const named = (key: string, conversation: string) => of(key, [], { conversation });
  homes.remember(named('alice', 'chat'), 'one', undefined);
  for (let i = 0; i <= HOME_LIMITS.conversations; i++) homes.remember(named('bob', `${i}`), 'two', undefined);
  expect(homes.find(named('alice', 'chat'))).toBe('one');
  expect(homes.find(named('bob', '0'))).toBeUndefined();
  expect(homes.find(named('bob', '1'))).toBe('two');
  for (let i = 0; i < HOME_LIMITS.keys; i++) homes.remember(named(`key ${i}`, 'chat'), 'two', undefined);
  expect(homes.find(named('alice', 'chat'))).toBeUndefined();
});
