import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeFreeText, FREE_TEXT_CLOSE, FREE_TEXT_OPEN, FreeTextReader, freeText } from './free-text.js';

function read(pieces: readonly string[]): { given: string[]; text: string } {
  const reader = new FreeTextReader();
  const given = pieces.map((piece) => reader.push(piece));
  given.push(reader.end());
  return { given: given.filter((piece) => piece !== ''), text: reader.text };
}

describe('free text in arguments', () => {
  it('is the property `input`, or whatever else was said', () => {
    expect(freeText({ input: 'a' })).toBe('a');
    expect(freeText({ input: 7 })).toBe('{"input":7}');
    expect(freeText({})).toBe('{}');
  });

  it('is given out as it comes', () => {
    expect(read(['{"input":"a', 'b', 'c"}']).given).toEqual(['a', 'b', 'c']);
  });

  it('waits for the other half of an escape', () => {
    expect(read(['{"input":"a\\', 'n\\u00', 'e9"', '}']).given).toEqual(['a', '\n', 'é']);
  });

  it('comes at the end where something else was said first', () => {
    expect(read(['{"other":1,', '"input":"a"}']).given).toEqual(['a']);
    expect(read(['{"x":1}']).given).toEqual(['{"x":1}']);
  });

  it('may be missing or cut', () => {
    expect(read([]).text).toBe('');
    expect(read(['{}']).text).toBe('{}');
    expect(read(['{"input":"ab\\u0']).text).toBe('ab');
    expect(read(['{"inp']).text).toBe('');
  });

  it('takes line breaks that no JSON may have', () => {
    expect(read(['{"input":"a\nb\\tc"}']).text).toBe('a\nb\tc');
  });

  it('is the same however it is cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.constantFrom('{"input":', ' {\n "input" : '),
        (text, cuts, head) => {
          const json = `${head}${JSON.stringify(text)}}`;
          const at = [...new Set(cuts.map((cut) => cut % json.length))].sort((a, b) => a - b);
          const pieces = [0, ...at].map((from, index) => json.slice(from, at[index] ?? json.length));
          const { given, text: all } = read(pieces);
          expect(all).toBe(text);
          expect(given.join('')).toBe(text);
        },
      ),
    );
  });

  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (pieces) => {
        const json = FREE_TEXT_OPEN + pieces.map(escapeFreeText).join('') + FREE_TEXT_CLOSE;
        expect(JSON.parse(json)).toEqual({ input: pieces.join('') });
      }),
    );
  });
});
