import { describe, expect, it } from 'vitest';
import { EventBounds } from './bounded-fetch.js';

const last = (...chunks: string[]): number => {
  const bounds = new EventBounds();
  return chunks.map((chunk) => bounds.take(Buffer.from(chunk))).at(-1) ?? 0;
};

describe('the event that a stream is in', () => {
  it('grows over chunks', () => {
    expect(last('data: abc', 'def', 'ghi')).toBe(15);
  });

  it.each([
    ['LF', ['data: a\n\ndata: b']],
    ['CRLF', ['data: a\r\n\r\ndata: b']],
    ['CR', ['data: a\r\rdata: b']],
    ['LF cut in two', ['data: a\n', '\ndata: b']],
    ['CRLF cut in two', ['data: a\r\n', '\r\ndata: b']],
  ])('starts anew after a blank line, %s', (_name, chunks) => {
    expect(last(...chunks)).toBeLessThan(12);
  });

  it('is not ended by the end of a line that is cut in two', () => {
    const line = `data: ${'x'.repeat(100)}\r`;
    expect(last(line, `\n${line}`, `\n${line}`)).toBeGreaterThan(300);
  });
});
