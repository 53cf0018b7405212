import { describe, expect, it } from 'vitest';
import { plain, plainLine } from './render.js';

describe('plain', () => {
  it.each([
    ['an escape that clears the screen', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
    ['a colour', '\u001b[31mred', '\\u001b[31mred'],
    ['the one-byte form of an escape', 'a\u009b2Jb', 'a\\u009b2Jb'],
    ['a carriage return that writes over the line', 'rm -rf ~\rls', 'rm -rf ~\\u000dls'],
    ['a backspace', 'rm\b\bls', 'rm\\u0008\\u0008ls'],
    ['a direction override', 'a\u202eb', 'a\\u202eb'],
    ['an isolate', 'a\u2067b', 'a\\u2067b'],
    ['a space of no width', 'r\u200bm', 'r\\u200bm'],
    ['an invisible letter', 'a\u3164b', 'a\\u3164b'],
    ['letters of tags', 'a\u{e0041}b', 'a\\u{e0041}b'],
    ['a line separator', 'a\u2028b', 'a\\u2028b'],
  ])('shows %s as its code', (_name, text, shown) => {
    expect(plain(text)).toBe(shown);
  });

  it('leaves words, tabs, line breaks and pictures', () => {
    const text = 'a\tb\nсло́во 中文 👩\u200d💻 ❤\ufe0f';
    expect(plain(text)).toBe(text);
  });

  it('takes the line breaks of Windows as line breaks', () => {
    expect(plain('a\r\nb')).toBe('a\nb');
  });
});

describe('plainLine', () => {
  it('is one line, cut with a mark', () => {
    expect(plainLine('a\n   b')).toBe('a b');
    expect(plainLine('abcdef', 4)).toBe('abc…');
  });
});
