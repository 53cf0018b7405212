import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPageCollector, type LinePage, type PageLimits } from './file-page.js';

const LIMITS: PageLimits = { from: 1, lines: 3, lineChars: 5, chars: 100 };

function page(text: string, limits: Partial<PageLimits> = {}, pieces = [text]): LinePage {
  const collector = createPageCollector({ ...LIMITS, ...limits });
  for (const piece of pieces) collector.push(piece);
  return collector.page(true);
}

describe('a page of lines', () => {
  it('ends with the file', () => {
    expect(page('a\nb\n')).toMatchObject({ lines: ['a', 'b'], more: false, ended: 'file', seen: 2 });
    expect(page('a\nb')).toMatchObject({ lines: ['a', 'b'], more: false, ended: 'file', seen: 2 });
  });

  it('is full without more behind it where the file ends there', () => {
    expect(page('a\nb\nc\n')).toMatchObject({ lines: ['a', 'b', 'c'], more: false, ended: 'file' });
    expect(page('a\nb\nc\n\n')).toMatchObject({ lines: ['a', 'b', 'c'], more: true, ended: 'lines' });
  });

  it('starts where it should', () => {
    expect(page('a\nb\nc\nd\ne\n', { from: 2 })).toMatchObject({ lines: ['b', 'c', 'd'], more: true });
    expect(page('a\nb', { from: 9 })).toMatchObject({ lines: [], more: false, seen: 2 });
  });

  it('cuts long lines, but no pair of surrogates', () => {
    expect(page('abcdefg\nx\n')).toMatchObject({ lines: ['abcde', 'x'], cut: [{ line: 1, length: 7 }] });
    expect(page('abcd😀\n').lines).toEqual(['abcd']);
  });

  it('drops the carriage return of CRLF and no other', () => {
    expect(page('abcde\r\na\rb\r\n')).toMatchObject({ lines: ['abcde', 'a\rb'], cut: [] });
  });

  it('ends before the line that would be too much, but never without a line', () => {
    expect(page('aaaa\nbbbb\ncccc\n', { chars: 10 })).toMatchObject({
      lines: ['aaaa', 'bbbb'],
      ended: 'chars',
      more: true,
    });
    expect(page('aaaa\nb\n', { chars: 1 })).toMatchObject({ lines: ['aaaa'], more: true });
  });

  it('is the same however the text is cut into pieces', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a\r\n]{0,30}$/),
        fc.array(fc.nat(30), { maxLength: 4 }),
        fc.integer({ min: 1, max: 6 }),
        (text, cuts, from) => {
          const at = [
            0,
            ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b),
            text.length,
          ];
          const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
          expect(page(text, { from }, pieces)).toEqual(page(text, { from }));
        },
      ),
      { numRuns: 500 },
    );
  });
});
