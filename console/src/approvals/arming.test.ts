import { describe, expect, it } from 'vitest';
import { isArmed, sample, type Watched } from './arming.js';

function watchedAt(
  position: { x: number; y: number },
  now: number,
): Watched & { at: { x: number; y: number } } {
  const each = {
    at: position,
    position: () => each.at,
    last: undefined,
    appearedAt: now,
    movedAt: now,
  };
  sample(each, now);
  return each;
}

describe('isArmed', () => {
  it('takes nothing right after the buttons appeared', () => {
    const each = watchedAt({ x: 0, y: 0 }, 1_000);
    expect(isArmed(each, 1_399, true)).toBe(false);
    expect(isArmed(each, 1_400, true)).toBe(true);
  });

  it('takes nothing right after they moved, also when nobody looked in between', () => {
    const each = watchedAt({ x: 0, y: 0 }, 0);
    expect(isArmed(each, 5_000, true)).toBe(true);
    each.at = { x: 0, y: 50 };
    expect(isArmed(each, 5_001, true)).toBe(false);
    expect(isArmed(each, 5_401, true)).toBe(true);
  });

  it('does not count a move of a pixel or two', () => {
    const each = watchedAt({ x: 0, y: 0 }, 0);
    each.at = { x: 1, y: 2 };
    expect(isArmed(each, 500, true)).toBe(true);
  });

  it('takes a key press where the page moved, but not where the buttons are new', () => {
    const each = watchedAt({ x: 0, y: 0 }, 0);
    expect(isArmed(each, 399, false)).toBe(false);
    each.at = { x: 0, y: 50 };
    expect(isArmed(each, 500, false)).toBe(true);
  });
});
