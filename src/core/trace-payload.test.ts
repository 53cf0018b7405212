import { describe, expect, it } from 'vitest';
import { decodeChunk, encodeChunk } from './trace-payload.js';

describe('a piece of a timeline', () => {
  it.each([
    ['text', Buffer.from('北京')],
    ['half a character', Buffer.from('北京').subarray(0, 4)],
    ['what looks like the mark', Buffer.from('base64:hm')],
  ])('carries %s round', (_name, bytes) => {
    expect(decodeChunk(encodeChunk(bytes))).toEqual(bytes);
  });
});
