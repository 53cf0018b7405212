/** A change as rows to draw: from a unified diff, or from the two texts. */
import { diffWordsWithSpace, structuredPatch } from 'diff';

interface DiffPiece {
  text: string;
  changed: boolean;
}

export type DiffRow =
  | { kind: 'file'; text: string }
  | { kind: 'gap'; text: string }
  | { kind: 'note'; text: string }
  | {
      kind: 'same' | 'added' | 'removed';
      old: number | undefined;
      new: number | undefined;
      text: string;
      /** Where only a part of the line changed. */
      pieces?: readonly DiffPiece[];
    };

interface DiffCount {
  added: number;
  removed: number;
}

type LineRow = Extract<DiffRow, { kind: 'same' | 'added' | 'removed' }>;

const LIMITS = {
  /** Lines around a change, when the two texts are compared here. */
  context: 3,
  /** Longer lines, or more of them, are compared as wholes. */
  wordChars: 600,
  wordPairs: 200,
  /** The comparison gives up then, and all is replaced. */
  edits: 800,
};

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;

export function rowsOfUnified(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let left = { old: 0, new: 0 };
  let at = { old: 0, new: 0 };
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(line);
    if (left.old > 0 || left.new > 0) {
      const row = hunkRow(line, at, left);
      if (row !== undefined) {
        rows.push(row);
        continue;
      }
    }
    if (hunk !== null) {
      at = { old: Number(hunk[1]), new: Number(hunk[3]) };
      left = { old: Number(hunk[2] ?? 1), new: Number(hunk[4] ?? 1) };
      rows.push({ kind: 'gap', text: (hunk[5] ?? '').trim() });
    } else if (line.startsWith('\\ ')) {
      rows.push({ kind: 'note', text: line.slice(2) });
    } else if (!/^(?:diff |index |Index: |={3,}|--- |\+\+\+ )/.test(line) && line !== '') {
      rows.push({ kind: 'note', text: line });
    } else {
      const name = /^\+\+\+ (?:b\/)?([^\t]*)/.exec(line)?.[1];
      if (name !== undefined && name !== '/dev/null') rows.push({ kind: 'file', text: name });
    }
  }
  return withWords(withoutFirstGap(rows));
}

export function rowsOfTexts(before: string, after: string): DiffRow[] {
  if (before === after) return [];
  const patch = structuredPatch('', '', before, after, '', '', {
    context: LIMITS.context,
    maxEditLength: LIMITS.edits,
  });
  if (patch === undefined) return replaced(before, after);
  const rows = patch.hunks.flatMap((hunk): DiffRow[] => {
    const at = { old: hunk.oldStart, new: hunk.newStart };
    const left = { old: Number.POSITIVE_INFINITY, new: Number.POSITIVE_INFINITY };
    const lines = hunk.lines.flatMap((line): DiffRow[] => {
      if (line.startsWith('\\')) return [];
      const row = hunkRow(line, at, left);
      return row === undefined ? [] : [row];
    });
    return [{ kind: 'gap', text: '' }, ...lines];
  });
  return withWords(withoutFirstGap(rows));
}

/** A text that is all new. */
export function rowsOfNew(text: string): DiffRow[] {
  return linesOf(text).map((line, index) => ({ kind: 'added', old: undefined, new: index + 1, text: line }));
}

export function countRows(rows: readonly DiffRow[]): DiffCount {
  return {
    added: rows.filter(({ kind }) => kind === 'added').length,
    removed: rows.filter(({ kind }) => kind === 'removed').length,
  };
}

function hunkRow(
  line: string,
  at: { old: number; new: number },
  left: { old: number; new: number },
): LineRow | undefined {
  const text = line.slice(1);
  switch (line[0]) {
    case '+':
      left.new -= 1;
      return { kind: 'added', old: undefined, new: at.new++, text };
    case '-':
      left.old -= 1;
      return { kind: 'removed', old: at.old++, new: undefined, text };
    case ' ':
    // Editors take the blank from an empty line.
    case undefined:
      left.old -= 1;
      left.new -= 1;
      return { kind: 'same', old: at.old++, new: at.new++, text };
    default:
      return undefined;
  }
}

function replaced(before: string, after: string): DiffRow[] {
  return [
    ...linesOf(before).map(
      (text, index): DiffRow => ({ kind: 'removed', old: index + 1, new: undefined, text }),
    ),
    ...rowsOfNew(after),
  ];
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function withoutFirstGap(rows: DiffRow[]): DiffRow[] {
  const first = rows.findIndex(({ kind }) => kind === 'gap');
  const row = rows[first];
  if (row?.kind !== 'gap' || row.text !== '') return rows;
  const next = rows[first + 1];
  const fromTop = next !== undefined && 'new' in next && (next.new ?? next.old) === 1;
  return fromTop ? rows.toSpliced(first, 1) : rows;
}

/** Removed lines followed by as many added ones are versions of each other. */
function withWords(rows: DiffRow[]): DiffRow[] {
  const result = [...rows];
  let pairs = 0;
  for (let start = 0; start < rows.length; ) {
    const removed = runOf(rows, start, 'removed');
    const added = runOf(rows, start + removed, 'added');
    if (removed > 0 && removed === added) {
      for (let index = 0; index < removed && pairs < LIMITS.wordPairs; index++) {
        pairs += 1;
        compareWords(result, start + index, start + removed + index);
      }
    }
    start += Math.max(1, removed + added);
  }
  return result;
}

function runOf(rows: readonly DiffRow[], start: number, kind: DiffRow['kind']): number {
  let end = start;
  while (rows[end]?.kind === kind) end += 1;
  return end - start;
}

function compareWords(rows: DiffRow[], from: number, to: number): void {
  const before = rows[from];
  const after = rows[to];
  if (before?.kind !== 'removed' || after?.kind !== 'added') return;
  if (before.text.length > LIMITS.wordChars || after.text.length > LIMITS.wordChars) return;
  const changes = diffWordsWithSpace(before.text, after.text);
  const same = changes.reduce((sum, each) => (each.added || each.removed ? sum : sum + each.value.length), 0);
  // Lines that have little in common read better as wholes.
  if (same * 3 < Math.max(before.text.length, after.text.length)) return;
  rows[from] = {
    ...before,
    pieces: changes
      .filter(({ added }) => !added)
      .map(({ value, removed }) => ({ text: value, changed: removed })),
  };
  rows[to] = {
    ...after,
    pieces: changes
      .filter(({ removed }) => !removed)
      .map(({ value, added }) => ({ text: value, changed: added })),
  };
}
