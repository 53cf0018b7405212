import { describe, expect, it } from 'vitest';
import { KnownValues } from './known-values.js';

const key = (n: number) => `key-${((n * 2_654_435_761) >>> 0).toString(36).padStart(7, '0')}`;

/** Others that make them many: they are looked for in another way. */
const OTHERS = Array.from({ length: 40 }, (_, n) => `other-${key(n)}`);

describe.each([
  ['few', []],
  ['many', OTHERS],
])('KnownValues, %s', (_name, others) => {
  it('finds a value wherever it stands, whatever is around it', () => {
    const known = new KnownValues([...others, 'abcde', 'secret-value', 'xyz']);
    for (let before = 0; before < 20; before++) {
      for (const value of ['abcde', 'secret-value', 'xyz']) {
        const text = `${'-'.repeat(before)}${value}`;
        expect([text, known.in(text)]).toEqual([text, [value]]);
        expect(known.in(`${text}${'.'.repeat(before)}`)).toEqual([value]);
        expect(known.in(text.slice(0, -1))).toEqual([]);
      }
    }
  });

  it('takes every character of a value for itself', () => {
    const known = new KnownValues([...others, 'a.c+[x]', '^$|(\\\\)']);
    expect(known.in('abc a.c+[x] ^$|(\\\\)').sort()).toEqual(['^$|(\\\\)', 'a.c+[x]']);
    expect(known.in('abc a.cc+[x]')).toEqual([]);
  });

  it('finds all of a thousand, and nothing else', () => {
    const values = Array.from({ length: 1000 }, (_, n) => key(n));
    const known = new KnownValues(values);
    for (const [n, value] of values.entries()) {
      expect(known.in(`${'x'.repeat(n % 17)}${value} and so on`)).toEqual([value]);
    }
    expect(known.in(`${key(1001)} key- key-000000! ${'key-'.repeat(100)}`)).toEqual([]);
  });

  it('finds a value in another, and several in one text', () => {
    const known = new KnownValues([...others, 'team', 'team-1', 'team-12', 'team-2', 'am-12-x']);
    expect(known.in('a team-12-x here').sort()).toEqual(['am-12-x', 'team', 'team-1', 'team-12']);
    expect(known.in('team-2').sort()).toEqual(['team', 'team-2']);
    expect(known.in('team-0')).toEqual(['team']);
    expect(known.in('team-12 team-2', 'one')).not.toEqual([]);
  });

  it('finds values of one and two characters, and of any script', () => {
    const known = new KnownValues([...others, 'a', 'ü!', '密码密码', '']);
    expect(known.in('xyz ü! 密码密码').sort()).toEqual(['ü!', '密码密码']);
    expect(known.in('a')).toEqual(['a']);
  });

  it('is nothing without values', () => {
    expect(new KnownValues([]).in('any text at all')).toEqual([]);
  });
});
