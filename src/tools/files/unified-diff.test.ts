import { applyPatch } from 'diff';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from './unified-diff.js';

const lines = (count: number, from = 1): string =>
  Array.from({ length: count }, (_, index) => `line ${from + index}\n`).join('');

describe('unifiedDiff', () => {
  it('has the numbers of the file and three lines around the change', async () => {
    const before = lines(20);
    const diff = await unifiedDiff('a.txt', before, before.replace('line 10\n', 'ten\n'));
    expect(diff.text).toBe(
      [
        '--- a.txt',
        '+++ a.txt',
        '@@ -7,7 +7,7 @@',
        ' line 7',
        ' line 8',
        ' line 9',
        '-line 10',
        '+ten',
        ' line 11',
        ' line 12',
        ' line 13',
      ].join('\n'),
    );
    expect(diff).toMatchObject({ added: 1, removed: 1 });
  });

  it('shows a new file as added to nothing', async () => {
    expect((await unifiedDiff('a', undefined, 'x\n')).text).toBe('--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+x');
  });

  it('says when the last line has no end', async () => {
    expect((await unifiedDiff('a', 'x\n', 'x')).text).toContain('\\ No newline at end of file');
  });

  it('hides CRLF where it is everywhere, and shows it where it changes', async () => {
    expect((await unifiedDiff('a', 'x\r\n', 'y\r\n')).text).not.toContain('\r');
    expect((await unifiedDiff('a', 'x\r\n', 'x\n')).text).toContain('-x\r');
  });

  it('of texts that have nothing in common is whole and quick', async () => {
    const diff = await unifiedDiff('a', lines(4000), lines(4000, 10_000_000));
    expect(diff).toMatchObject({ added: 4000, removed: 4000 });
    expect(diff.text).toMatch(/more lines of the diff\]$/);
  });

  it('of very large texts says how large they are, and how they begin', async () => {
    const diff = await unifiedDiff('a.txt', 'old\n'.repeat(50_000), `${'new\n'.repeat(60_000)}end`);
    expect(diff).toMatchObject({ removed: 50_000, added: 60_001 });
    expect(diff.text).toMatch(
      /^--- a\.txt\n\+\+\+ a\.txt\n\[too large to be compared: 50000 lines \(200000 characters\) become 60001 lines \(240003 characters\).*\]\n-old\n/,
    );
    expect(diff.text).toContain('\n+new\n');
    expect(diff.text.length).toBeLessThan(100_000);
  });

  it('compares what is changed of a large text, however large the rest is', async () => {
    const before = 'same\n'.repeat(100_000);
    const diff = await unifiedDiff('a.txt', before, `${before}more\n`);
    expect(diff).toMatchObject({ removed: 0, added: 1 });
    expect(diff.text).toContain('@@ -99998,3 +99998,4 @@');
  });

  it('is a patch that makes the one text out of the other', async () => {
    const text = fc.stringMatching(/^([ab]\n){0,12}[ab]?$/);
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        fc.pre(before !== after);
        expect(applyPatch(before, (await unifiedDiff('a', before, after)).text)).toBe(after);
      }),
    );
  });
});
