import { describe, expect, it } from 'vitest';
import { createOutputBuffer, decodeOutput, wholeCharacters } from './output-buffer.js';

const text = (buffer: Buffer): string => buffer.toString('latin1');

describe('createOutputBuffer', () => {
  it('keeps a short output whole', () => {
    const output = createOutputBuffer({ headBytes: 4, tailBytes: 4 });
    for (const part of ['ab', 'cde', 'f']) output.push(Buffer.from(part));
    const { before, omitted, after } = output.since(0);
    expect([text(before), omitted, text(after)]).toEqual(['abcd', 0, 'ef']);
  });

  it('keeps the first and the last bytes of a long one, and counts the others', () => {
    const output = createOutputBuffer({ headBytes: 4, tailBytes: 4 });
    for (const letter of 'abcdefghijklmnopqrstuvwxyz') output.push(Buffer.from(letter));
    const { before, omitted, after } = output.since(0);
    expect([text(before), omitted, text(after)]).toEqual(['abcd', 18, 'wxyz']);
    expect(output.total).toBe(26);
  });

  it('keeps the end of one chunk that is longer than both', () => {
    const output = createOutputBuffer({ headBytes: 2, tailBytes: 3 });
    output.push(Buffer.from('0123456789'));
    const { before, omitted, after } = output.since(0);
    expect([text(before), omitted, text(after)]).toEqual(['01', 5, '789']);
  });

  it('gives what came since a position', () => {
    const output = createOutputBuffer({ headBytes: 4, tailBytes: 4 });
    output.push(Buffer.from('abcdefgh'));
    expect(text(output.since(6).after)).toBe('gh');
    expect(text(output.since(2).before)).toBe('cd');
    output.push(Buffer.from('ijklmnop'));
    const later = output.since(8);
    expect([later.omitted, text(later.after)]).toEqual([4, 'mnop']);
    expect(output.since(16)).toMatchObject({ omitted: 0, after: Buffer.alloc(0) });
  });

  it('does not grow with what is pushed', () => {
    const output = createOutputBuffer({ headBytes: 1024, tailBytes: 1024 });
    const chunk = Buffer.alloc(64 * 1024, 'x');
    for (let index = 0; index < 2000; index += 1) output.push(chunk);
    for (let index = 0; index < 5000; index += 1) output.push(Buffer.from('y'));
    const { before, omitted, after } = output.since(0);
    expect(before.length + after.length).toBeLessThan(4 * 1024);
    expect(before.length + omitted + after.length).toBe(output.total);
  });
});

describe('wholeCharacters', () => {
  it.each([
    ['plain', Buffer.from('abc'), 3],
    ['a whole character of two bytes', Buffer.from('é'), 2],
    ['the first of two bytes', Buffer.from('aé').subarray(0, 2), 1],
    ['three of four bytes', Buffer.from('a😀').subarray(0, 4), 1],
    ['a byte that begins nothing', Buffer.from([0x61, 0xff]), 1],
    ['nothing', Buffer.alloc(0), 0],
  ])('of %s', (_name, bytes, length) => {
    expect(wholeCharacters(bytes)).toBe(length);
  });
});

describe('decodeOutput', () => {
  it('joins a character that two chunks share', () => {
    const bytes = Buffer.from('a😀b');
    const decoded = decodeOutput({ before: bytes.subarray(0, 3), omitted: 0, after: bytes.subarray(3) });
    expect(decoded.before).toBe('a😀b');
  });

  it('leaves out halves of characters at a gap', () => {
    const bytes = Buffer.from('a😀b');
    const decoded = decodeOutput({ before: bytes.subarray(0, 3), omitted: 9, after: bytes.subarray(3) });
    expect([decoded.before, decoded.after]).toEqual(['a', 'b']);
  });
});
