import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locateJsonProblem } from './json-position.js';

describe('locateJsonProblem', () => {
  it.each([
    ['{"a":1,}', 7, 'a property name in double quotes'],
    ['{"a"', 4, '":"'],
    ['[1,2', 4, '"," or "]"'],
    ['[1,]', 3, 'a value'],
    ['{', 1, 'a property name in double quotes or "}"'],
    ['[', 1, 'a value or "]"'],
    ['nul', 0, 'a value'],
    ['{"a":"x\ny"}', 7, 'no control character inside a string (escape it)'],
    ['{"a":"\\x"}', 6, 'a valid escape after "\\"'],
    ['"abc', 4, 'the end of the string'],
    ['{"a":1}x', 7, 'the end of the body'],
    ["{'a':1}", 1, 'a property name in double quotes or "}"'],
    ['01', 1, 'the end of the body'],
    ['-', 0, 'a value'],
    ['', 0, 'a value'],
  ])('finds what is wrong in %j', (text, offset, expected) => {
    expect(locateJsonProblem(text)).toMatchObject({ offset, expected });
  });

  it('counts lines and columns from 1', () => {
    expect(locateJsonProblem('{\n  "a": 1,\n  "b" 2\n}')).toMatchObject({ line: 3, column: 7, offset: 18 });
  });

  it('does not recurse', () => {
    expect(locateJsonProblem('['.repeat(500_000))?.offset).toBe(500_000);
  });

  it('agrees with JSON.parse on what is JSON, for whole and cut texts', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, cut) => {
        for (const candidate of [text, text.slice(0, cut % (text.length + 1))]) {
          expect(locateJsonProblem(candidate) === undefined).toBe(isJson(candidate));
        }
      }),
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
