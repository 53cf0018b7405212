import { describe, expect, it } from 'vitest';
import { countRows, type DiffRow, rowsOfNew, rowsOfTexts, rowsOfUnified } from './diff-rows.js';

const drawn = (rows: readonly DiffRow[]) =>
  rows.map((row) =>
    'old' in row ? `${row.kind} ${row.old ?? '-'} ${row.new ?? '-'} ${row.text}` : `${row.kind} ${row.text}`,
  );

describe('rowsOfUnified', () => {
  it('numbers the lines of each side, and names the file', () => {
    const diff =
      '--- a/x.ts\n+++ b/x.ts\n@@ -10,3 +10,3 @@ function f\n a\n-b\n+c\n d\n@@ -40 +40,2 @@\n e\n+f\n';
    expect(drawn(rowsOfUnified(diff))).toEqual([
      'file x.ts',
      'gap function f',
      'same 10 10 a',
      'removed 11 - b',
      'added - 11 c',
      'same 12 12 d',
      'gap ',
      'same 40 40 e',
      'added - 41 f',
    ]);
  });

  it('takes lines of a hunk that look like headers as lines', () => {
    const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n @@ -1 +1 @@\n';
    expect(drawn(rowsOfUnified(diff)).slice(1)).toEqual([
      'removed 1 - -- old',
      'added - 1 ++ new',
      'same 2 2 @@ -1 +1 @@',
    ]);
  });

  it('keeps what it does not know as a note', () => {
    expect(drawn(rowsOfUnified('Binary files differ\n'))).toEqual(['note Binary files differ']);
    expect(drawn(rowsOfUnified('@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n')).at(-1)).toBe(
      'note No newline at end of file',
    );
    const cut = '@@ -1,9 +1,9 @@\n a\n… (400 more characters)';
    expect(drawn(rowsOfUnified(cut)).at(-1)).toBe('note … (400 more characters)');
  });
});

describe('rowsOfTexts', () => {
  it('shows the words that changed', () => {
    const rows = rowsOfTexts('const answer = 41;\n', 'const answer = 42;\n');
    expect(rows).toEqual([
      expect.objectContaining({
        kind: 'removed',
        pieces: expect.arrayContaining([{ text: '41', changed: true }]),
      }),
      expect.objectContaining({
        kind: 'added',
        pieces: expect.arrayContaining([{ text: '42', changed: true }]),
      }),
    ]);
  });

  it('leaves out what is far from a change', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const after = lines.with(50, 'changed');
    const rows = rowsOfTexts(lines.join('\n'), after.join('\n'));
    expect(rows[0]).toEqual({ kind: 'gap', text: '' });
    expect(rows).toHaveLength(9);
    expect(countRows(rows)).toEqual({ added: 1, removed: 1 });
  });

  it('says nothing about equal texts, and all of texts that have nothing in common', () => {
    expect(rowsOfTexts('a', 'a')).toEqual([]);
    const before = Array.from({ length: 6_000 }, (_, index) => `a${index}`).join('\n');
    const after = Array.from({ length: 6_000 }, (_, index) => `b${index}`).join('\n');
    expect(countRows(rowsOfTexts(before, after))).toEqual({ added: 6_000, removed: 6_000 });
  });

  it('shows a new text as added lines', () => {
    expect(drawn(rowsOfNew('a\nb\n'))).toEqual(['added - 1 a', 'added - 2 b']);
    expect(rowsOfNew('')).toEqual([]);
  });
});
