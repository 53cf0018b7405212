import { expect, it } from 'vitest';
import { byRendezvous } from './rendezvous.js';

const target = (id: string, weight = 1) => ({ id, weight });
const conversations = Array.from({ length: 1000 }, (_, index) => `conversation ${index}`);
const homes = (targets: { id: string; weight: number }[]) =>
  conversations.map((each) => byRendezvous(targets, each)[0]?.id);
const count = (ids: (string | undefined)[], id: string) => ids.filter((each) => each === id).length;

it('a conversation belongs to the same target in whichever order targets are written', () => {
  const targets = [target('a'), target('b', 2), target('c')];
  expect(homes(targets.toReversed())).toEqual(homes(targets));
});

it('targets have conversations in proportion to their weights', () => {
  const found = homes([target('a', 3), target('b', 1), target('c', 1)]);
  expect(['a', 'b', 'c'].map((id) => count(found, id))).toEqual([578, 192, 230]);
});

it('a target that leaves moves its own conversations and no other, and they spread over those that stay', () => {
  const all = [target('a'), target('b'), target('c')];
  const before = homes(all);
  const after = homes(all.slice(1));
  const moved = conversations.filter((_, index) => before[index] !== after[index]);
  expect(moved).toEqual(conversations.filter((_, index) => before[index] === 'a'));
  const to = after.filter((_, index) => before[index] === 'a');
  expect([count(to, 'b'), count(to, 'c')]).toEqual([166, 159]);
});

it('a new target takes conversations for itself and moves none between the others', () => {
  const before = homes([target('a'), target('b')]);
  const after = homes([target('a'), target('b'), target('c')]);
  for (const [index, home] of after.entries()) if (home !== 'c') expect(home).toBe(before[index]);
});
