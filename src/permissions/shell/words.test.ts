import { describe, expect, it } from 'vitest';
import { decodeWord } from './words.js';

describe('what a word may stand for', () => {
  it.each([
    ['curl', ['curl']],
    ['c\'u\'r"l"', ['curl']],
    ['c\\url', ['curl']],
    ["$'\\x63\\165\\u0072l'", ['curl']],
    ['$"curl"', ['curl']],
    ['cu\\\nrl', ['curl']],
    ['.{env,git}', ['.env', '.git']],
    ['{a,{b,c}}d', ['ad', 'bd', 'cd']],
    ['{a}', ['{a}']],
    ["'{a,b}'", ['{a,b}']],
    ['a{1..3}', ['a{1..3}']],
  ])('%s', (raw, expected) => {
    const words = decodeWord(raw);
    expect(words.map(({ text }) => text).toSorted()).toEqual(expected.toSorted());
    expect(words.every(({ literal }) => literal)).toBe(true);
  });

  it('tells what only the shell knows', () => {
    for (const raw of ['$x', '"$x"', '`x`', '"a`x`"', '$(x)', '<(x)', 'a$x']) {
      expect(decodeWord(raw)[0]?.literal, raw).toBe(false);
    }
    for (const raw of ["'$x'", '"\\$x"', '\\$x', '"x$"']) expect(decodeWord(raw)[0]?.literal, raw).toBe(true);
    expect(decodeWord('*.ts')[0]?.glob).toBe(true);
    expect(decodeWord("'*'.ts")[0]?.glob).toBe(false);
  });

  it('stays small when braces multiply', () => {
    expect(decodeWord('{a,b}'.repeat(30)).length).toBeLessThanOrEqual(64);
  });
});
