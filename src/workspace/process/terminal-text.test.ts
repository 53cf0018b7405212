import { describe, expect, it } from 'vitest';
import { behindCode, looksBinary, plainText, withoutBegunCode } from './terminal-text.js';

describe('plainText', () => {
  it.each([
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['a title', '\u001b]0;title\u0007text', 'text'],
    ['a link', '\u001b]8;;http://x\u001b\\name\u001b]8;;\u001b\\', 'name'],
    ['a device control string', 'a\u001bPq#0\u001b\\b', 'ab'],
    ['a progress bar', '10%\r50%\r100%\ndone', '100%\ndone'],
    ['ends of lines as Windows has them', 'a\r\nb\r\n', 'a\nb\n'],
    ['overstriking', 'N\bNA\bAME\bE', 'NAME'],
    ['bells', 'a\u0007b', 'ab'],
    ['zeros between names', 'a\0b\0', 'a\\0b\\0'],
    ['tabs and characters of all kinds', 'a\tb é 😀', 'a\tb é 😀'],
  ])('shows %s as a terminal would', (_name, given, shown) => {
    expect(plainText(given)).toBe(shown);
  });

  it('takes time in proportion to a text full of beginnings', () => {
    expect(plainText('\u001b]'.repeat(200_000))).toBe('');
    expect(plainText(`${'\u001b['.repeat(200_000)}m`)).not.toContain('\u001b');
  });
});

describe('a text that is cut', () => {
  const CODES =
    '\u001b[1;31mred\u001b[0m \u001b]8;;http://x\u001b\\link\u001b]8;;\u0007 \u001b(B\u001b7 \u001bPq#0\u001b\\ é';

  it('ends and begins between codes, wherever that is', () => {
    for (let at = 0; at <= CODES.length; at += 1) {
      const head = withoutBegunCode(CODES.slice(0, at));
      expect(CODES.startsWith(head)).toBe(true);
      expect(plainText(`${head}|`)).toBe(`${plainText(head)}|`);
      const tail = behindCode(CODES, CODES.slice(at));
      expect(CODES.endsWith(tail)).toBe(true);
      expect(plainText(CODES).endsWith(plainText(tail))).toBe(true);
    }
  });

  it('is not held up by a text full of beginnings', () => {
    expect(withoutBegunCode('\u001b]'.repeat(200_000))).toBe('');
    expect(withoutBegunCode('\u001b'.repeat(200_000))).toBe('');
  });
});

describe('looksBinary', () => {
  it.each([
    ['text', 'hello\n', false],
    ['names with zeros between them', 'src/a.ts\0src/b.ts\0', false],
    ['zeros', '\0'.repeat(100), true],
    ['bytes that are no text', 'a\ufffd\ufffd\ufffdb\u0001\u0002', true],
    ['one bad byte in a text', `${'text '.repeat(20)}\ufffd`, false],
    ['colours', '\u001b[31mred\u001b[0m', false],
    ['nothing', '', false],
  ])('of %s', (_name, text, binary) => {
    expect(looksBinary(text)).toBe(binary);
  });
});
