import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { imageMediaType } from './binary-kind.js';
import {
  decodeFile,
  decodeText,
  encodeText,
  lineEndingOf,
  sniffEncoding,
  type TextEncoding,
  textProblem,
} from './text-file.js';

const ALL: readonly TextEncoding[] = ['utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be'];

describe.each(ALL)('%s', (encoding) => {
  it('gives back the bytes that it was decoded from', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(textProblem(text) === undefined && !text.startsWith('\ufeff'));
        const bytes = encodeText(text, encoding);
        expect(sniffEncoding(bytes)).toBe(encoding);
        expect(decodeText(bytes, encoding)).toBe(text);
        expect(encodeText(decodeText(bytes, encoding) ?? '', encoding)).toEqual(bytes);
      }),
    );
  });
});

describe('what is not text', () => {
  it.each([
    ['Latin-1', Buffer.from([0x63, 0x61, 0x66, 0xe9]), 'older encoding'],
    ['an ELF file', Buffer.from('\x7fELF\0\0', 'latin1'), 'an ELF program'],
    ['an unknown binary', Buffer.from([1, 2, 0, 3]), 'a binary file'],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), 'UTF-32 text'],
    ['half of a UTF-16 unit', Buffer.from([0xff, 0xfe, 0x61]), 'not valid UTF-16'],
    ['a lone surrogate in UTF-16', Buffer.from([0xff, 0xfe, 0x00, 0xd8]), 'not valid UTF-16'],
  ])('%s is refused with its kind', (_name, bytes, message) => {
    expect(() => decodeFile(bytes, '/a')).toThrow(message);
  });

  it.each([
    ['a\0b', 'NUL'],
    ['a\ud800', 'surrogate'],
  ])('%j cannot be written', (text, problem) => {
    expect(textProblem(text)).toContain(problem);
  });
});

describe('imageMediaType', () => {
  it.each(['GIF89a is an old format\n', 'this is WEBP, written\n'])(
    'does not take the text %j for an image',
    (text) => {
      expect(imageMediaType(Buffer.from(text))).toBeUndefined();
    },
  );
});

describe('lineEndingOf', () => {
  it.each([
    ['a', 'none'],
    ['a\nb', 'lf'],
    ['a\r\nb\r\n', 'crlf'],
    ['a\r\nb\n', 'mixed'],
    ['\n', 'lf'],
    ['a\rb', 'none'],
  ])('%j is %s', (text, expected) => {
    expect(lineEndingOf(text)).toBe(expected);
  });
});
