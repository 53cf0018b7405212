import { describe, expect, it } from 'vitest';
import { makeProseVisible, makeVisible, visiblePieces } from './visible.js';

const hasHidden = (text: string): boolean => visiblePieces(text).some((piece) => piece.hidden);

describe('what cannot be seen', () => {
  it.each([
    ['a right-to-left override', 'photo\u202egpj.exe', 'photo[U+202E]gpj.exe'],
    ['isolates', 'a\u2066b\u2069', 'a[U+2066]b[U+2069]'],
    ['a zero width space', 'rm\u200b -rf', 'rm[U+200B] -rf'],
    ['an escape', '\u001b[31mred', '␛[31mred'],
    ['a carriage return that would write over the line', 'safe\rrm', 'safe␍rm'],
    ['tags', 'a\u{e0041}', 'a[U+E0041]'],
    ['delete', 'a\u007f', 'a␡'],
    ['a joiner that joins no pictures', 'a\u200db', 'a[U+200D]b'],
  ])('is shown: %s', (_, text, shown) => {
    expect(makeVisible(text)).toBe(shown);
    expect(hasHidden(text)).toBe(true);
  });

  it.each(['a\tb\nc', 'line\r\nline', '中文，标点。', '👩‍💻 and 👩🏽‍🚀', 'شكرا', 'naïve — “x”'])(
    'leaves what can be seen: %s',
    (text) => {
      expect(makeVisible(text)).toBe(text.replaceAll('\r\n', '\n'));
      expect(hasHidden(text)).toBe(false);
    },
  );

  it('marks each of them, and replaces those beyond what is marked too', () => {
    expect(visiblePieces('a\u202eb')).toEqual([
      { text: 'a', hidden: false },
      { text: '[U+202E]', hidden: true },
      { text: 'b', hidden: false },
    ]);
    const many = visiblePieces('x\u200b'.repeat(5000));
    expect(many.length).toBeLessThan(2100);
    expect(many.map(({ text }) => text).join('')).toBe('x[U+200B]'.repeat(5000));
  });
});

describe('makeProseVisible', () => {
  it('shows controls and what turns text round, and leaves marks that languages need', () => {
    expect(makeProseVisible('a\u001b[31m\u202egnp\u2066')).not.toMatch(/[\u001b\u202e\u2066]/);
    const persian = 'می\u200cخواهم \u200f';
    expect(makeProseVisible(`${persian}\n\t👩\u200d💻`)).toBe(`${persian}\n\t👩\u200d💻`);
  });
});
