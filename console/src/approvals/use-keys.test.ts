import { describe, expect, it } from 'vitest';
import { isInSight } from './use-keys.js';

/** A button in a list that shows what is between two heights of the page; `over` lies on top of it. */
function sightOf(top: number, shown: { from: number; to: number }, over?: { from: number; to: number }) {
  const box = { left: 100, top, width: 80, height: 30 };
  const isIn = (at: number, { from, to }: { from: number; to: number }) => at >= from && at < to;
  return isInSight({ getBoundingClientRect: () => box, contains: (other) => other === 'button' }, (x, y) => {
    if (!isIn(y, { from: 0, to: 800 })) return null;
    if (over !== undefined && isIn(x, over)) return 'over';
    return isIn(y, shown) && isIn(y, { from: top, to: top + 30 }) ? 'button' : 'page';
  });
}

describe('keys without a focus', () => {
  const LIST = { from: 60, to: 700 };

  it('answer a question whose button is in sight, also under something small', () => {
    expect(sightOf(300, LIST)).toBe(true);
    expect(sightOf(300, LIST, { from: 130, to: 200 })).toBe(true);
  });

  it.each([
    ['is above the window', -200, undefined],
    ['is below the window', 900, undefined],
    ['is scrolled out of its list, inside of the window', 720, undefined],
    ['lies under something', 300, { from: 0, to: 1_000 }],
  ])('answer none whose button %s', (_what, top, over) => {
    expect(sightOf(top, LIST, over)).toBe(false);
  });
});
