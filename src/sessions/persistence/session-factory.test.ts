import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasSessionForm, newSessionId } from './session-factory.js';

describe('the id of a session', () => {
  it('is known by its form, and no two are the same', () => {
    const ids = Array.from({ length: 100 }, newSessionId);
    expect(ids.filter((id) => !hasSessionForm(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('that an earlier version gave out is known as well', () => {
    expect(hasSessionForm('ses_3q2-7wAAAAAAAAAAAAAAAA')).toBe(true);
    expect(hasSessionForm('ses_Zm9vYmFyYmF6cXV4MTIzNA')).toBe(true);
  });

  it.each([
    ['of opencode', 'ses_6f2a91c3dffeRjQ0w8ZkLmN4pT'],
    ['of opencode, another', 'ses_3e1f0b7a2001aBcDeFgHiJkLmN'],
    ['a UUID', '0f8fad5b-d9cb-469f-a165-70867728950e'],
    ['a UUID with the prefix', 'ses_0f8fad5b-d9cb-469f-a165-70867728950e'],
    ['a short one', 'ses_nobody'],
    ['the prefix alone', 'ses_'],
    ['nothing', ''],
    ['a very long one', `ses_${'A'.repeat(16_000)}`],
  ])('is not one that a client made up: %s', (_, id) => {
    expect(hasSessionForm(id)).toBe(false);
  });

  it('with any character changed is not one of ours', () => {
    const other = fc.constantFrom(...'ABCXYZabcxyz0189-_');
    fc.assert(
      fc.property(fc.nat({ max: 26 }), other, (at, letter) => {
        const id = newSessionId();
        const changed = `${id.slice(0, 4 + at)}${letter}${id.slice(5 + at)}`;
        expect(hasSessionForm(changed)).toBe(changed === id);
      }),
    );
  });
});
