import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeUtf8 } from './encode-utf8.js';

describe('encodeUtf8', () => {
  it('gives the bytes of Buffer.from for short and long texts of any characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom(1, 5000), (text, times) => {
        const long = text.repeat(times);
        expect(encodeUtf8(long).equals(Buffer.from(long, 'utf8'))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('replaces a lone surrogate as Buffer.from does', () => {
    const text = `${'a'.repeat(5000)}\ud800${'b'.repeat(10)}`;
    expect(encodeUtf8(text).equals(Buffer.from(text, 'utf8'))).toBe(true);
  });
});
