import { describe, expect, it } from 'vitest';
import { rowsOfTexts } from './diff-rows.js';
import { splitRows } from './split-rows.js';

describe('a change side by side', () => {
  it('has what was removed beside what took its place, and every line once', () => {
    const rows = rowsOfTexts('a\nb\nc\nd\n', 'a\nB\nC2\nx\nd\n');
    const pairs = splitRows(rows).flatMap((row) =>
      row.kind === 'pair' ? [[row.left?.text, row.right?.text]] : [],
    );
    expect(pairs).toEqual([
      ['a', 'a'],
      ['b', 'B'],
      ['c', 'C2'],
      [undefined, 'x'],
      ['d', 'd'],
    ]);
  });

  it('keeps rows that are no lines where they were', () => {
    const gap = { kind: 'gap', text: '' } as const;
    const line = { kind: 'removed', old: 1, new: undefined, text: 'a' } as const;
    expect(splitRows([gap, line, gap])).toEqual([gap, { kind: 'pair', left: line, right: undefined }, gap]);
  });
});
