import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSignature, sealSignature } from './sealed-signature.js';

describe('a sealed signature', () => {
  it('opens to what was sealed, and says whose it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (payload) => {
        const sealed = sealSignature('openai-chat', payload);
        expect(openSignature(sealed)).toEqual({ origin: 'openai-chat', payload });
      }),
    );
  });

  it("is never taken for a provider's own, nor the other way round", () => {
    expect(sealSignature('openai-chat', '{}')).not.toMatch(/^[A-Za-z0-9+/=_-]+$/);
    for (const own of ['EqQBCkYIBxgCKkB==', '', 'tg1.', 'tg1.elsewhere.abcd', 'tg1.openai-chat.a b']) {
      expect(openSignature(own)).toBeUndefined();
    }
  });
});
