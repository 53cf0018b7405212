/** Rows of a change side by side: what was on the left, what is on the right. */
import type { DiffRow } from './diff-rows.js';

type Line = Extract<DiffRow, { kind: 'same' | 'added' | 'removed' }>;

export interface SplitPair {
  kind: 'pair';
  left: Line | undefined;
  right: Line | undefined;
}

/** Lines that were removed stand beside those that were added in their place; other rows stay as they are. */
export function splitRows<Other extends { kind: string }>(
  rows: readonly (Line | Other)[],
): (SplitPair | Other)[] {
  const out: (SplitPair | Other)[] = [];
  let removed: Line[] = [];
  let added: Line[] = [];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1)
      out.push({ kind: 'pair', left: removed[at], right: added[at] });
    removed = [];
    added = [];
  };
  for (const row of rows) {
    if (!isLine(row)) {
      flush();
      out.push(row);
    } else if (row.kind === 'removed') {
      // What is removed after something was added replaces something else.
      if (added.length > 0) flush();
      removed.push(row);
    } else if (row.kind === 'added') added.push(row);
    else {
      flush();
      out.push({ kind: 'pair', left: row, right: row });
    }
  }
  flush();
  return out;
}

function isLine(row: { kind: string }): row is Line {
  return row.kind === 'same' || row.kind === 'added' || row.kind === 'removed';
}
