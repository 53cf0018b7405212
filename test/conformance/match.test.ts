import { describe, expect, it } from 'vitest';
import { isSelection, select } from './dialects.js';
import { at, mismatches } from './match.js';

const fits = (actual: unknown, expected: unknown): boolean => mismatches(actual, expected, 'x').length === 0;

describe('mismatches', () => {
  it.each<[string, unknown, unknown, boolean]>([
    ['more keys are fine', { a: 1, b: 2 }, { a: 1 }, true],
    ['a missing key is not', { b: 2 }, { a: 1 }, false],
    ['more elements are not', [1, 2], [1], false],
    ['null is not undefined', { a: undefined }, { a: null }, false],
    ['$exact wants every key', { a: 1, b: 2 }, { $exact: { a: 1 } }, false],
    ['$absent', { b: 1 }, { a: { $absent: true } }, true],
    ['$absent, and it is there', { a: null }, { a: { $absent: true } }, false],
    ['$any', { a: '' }, { a: { $any: true } }, true],
    ['$contains, all of them', 'one two', { $contains: ['one', 'two'] }, true],
    ['$contains, not all of them', 'one', { $contains: ['one', 'two'] }, false],
    ['$lacks', 'one', { $lacks: 'two' }, true],
    ['$match', 'call_1', { $match: '^call_\\d$' }, true],
    ['$gt and $lt', 5, { $gt: 4, $lt: 6 }, true],
    ['$gt of the same', 5, { $gt: 5 }, false],
    ['$length', ['a', 'b'], { $length: 2 }, true],
    ['$json', '{"a":1}', { $json: { a: 1 } }, true],
    ['$some', [{ a: 1 }, { b: 2 }], { $some: [{ b: 2 }] }, true],
    ['$some, and none', [{ a: 1 }], { $some: [{ b: 2 }] }, false],
    ['$same twice', { a: 'i', b: 'i' }, { a: { $same: 'id' }, b: { $same: 'id' } }, true],
    ['$same, and another', { a: 'i', b: 'j' }, { a: { $same: 'id' }, b: { $same: 'id' } }, false],
  ])('%s', (_title, actual, expected, wanted) => {
    expect(fits(actual, expected)).toBe(wanted);
  });

  it('refuses a matcher that it does not know', () => {
    expect(() => fits(1, { $near: 1 })).toThrow('$near is no matcher');
  });
});

it('at finds what stands at a path', () => {
  const value = { list: [{ a: 1 }, { b: 2 }, { a: 3 }] };
  expect(at(value, 'list.*.a')).toEqual([1, 3]);
  expect(at(value, 'list.1.b')).toEqual([2]);
  expect(at(value, 'list.7')).toEqual([]);
});

describe('select', () => {
  const pair = { client: 'messages', upstream: 'chat' } as const;

  it.each<[Record<string, string>, string | undefined]>([
    [{ '*': 'rest', chat: 'upstream' }, 'upstream'],
    [{ 'messages>chat': 'pair', chat: 'upstream' }, 'pair'],
    [{ 'messages>': 'client', '*': 'rest' }, 'client'],
    [{ '*': 'rest', responses: 'other' }, 'rest'],
    [{ responses: 'other' }, undefined],
  ])('%o', (value, wanted) => {
    expect(select(value, pair)).toBe(wanted);
  });

  it('leaves alone what is given once', () => {
    expect(select('all', pair)).toBe('all');
    expect(isSelection({ chat: 1, other: 2 })).toBe(false);
  });
});
