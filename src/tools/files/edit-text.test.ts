import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editText } from './edit-text.js';

async function edited(
  text: string,
  oldString: string,
  newString: string,
  replaceAll = false,
): Promise<string> {
  const outcome = await editText(text, { oldString, newString, replaceAll });
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.text;
}

async function refusal(text: string, oldString: string, newString = 'x'): Promise<string> {
  const outcome = await editText(text, { oldString, newString, replaceAll: false });
  return outcome.ok ? 'replaced' : outcome.message;
}

describe('an exact match', () => {
  it('is replaced where it is unique', async () => {
    expect(await edited('a b c', 'b', 'B')).toBe('a B c');
  });

  it('is refused where it occurs twice, with the lines', async () => {
    expect(await refusal('x\ny\nx\n', 'x')).toContain('occurs 2 times (lines 1, 3)');
  });

  it('is replaced everywhere with replace_all', async () => {
    expect(await edited('x\ny\nx\n', 'x', 'z', true)).toBe('z\ny\nz\n');
  });

  it('does not treat the new string as a pattern', async () => {
    expect(await edited('a', 'a', '$& $1 $$')).toBe('$& $1 $$');
  });

  it('tells where the new text is', async () => {
    const outcome = await editText('one two one', { oldString: 'one', newString: 'three', replaceAll: true });
    expect(outcome).toMatchObject({
      regions: [
        { start: 0, end: 5 },
        { start: 10, end: 15 },
      ],
      loose: false,
    });
  });
});

describe('line endings', () => {
  it('match LF strings in a CRLF file and stay CRLF', async () => {
    expect(await edited('a\r\nb\r\nc\r\n', 'a\nb\n', 'a\nB\nnew\n')).toBe('a\r\nB\r\nnew\r\nc\r\n');
  });

  it('of a new line are those of the line it stands in', async () => {
    expect(await edited('a\r\nb\r\n', 'b', 'b\nc')).toBe('a\r\nb\r\nc\r\n');
  });

  it('in a mixed file stay as they are where the edit does not change the line', async () => {
    expect(await edited('a\r\nb\nc\r\nd\n', 'a\nb\nc\n', 'a\nB\nc\n')).toBe('a\r\nB\nc\r\nd\n');
  });

  it('that the new string brings itself are kept', async () => {
    expect(await edited('a\nb\n', 'b', 'b\r\nc')).toBe('a\nb\r\nc\n');
  });
});

describe('the loose match', () => {
  it('finds text whose lines have blanks at the end, and keeps those of lines that stay', async () => {
    expect(await edited('if x:  \n  y()\t\nz\n', 'if x:\n  y()\n', 'if x:\n  w()\n')).toBe(
      'if x:  \n  w()\t\nz\n',
    );
  });

  it('finds typographic quotes and dashes, and keeps them where the edit does not touch them', async () => {
    expect(await edited('say “hi” – to bob', 'say "hi" - to bob', 'say "hi" - to alice')).toBe(
      'say “hi” – to alice',
    );
  });

  it('maps an ellipsis back to its one character', async () => {
    expect(await edited('wait… then “go” now', 'wait... then "go"', 'wait... then "stop"')).toBe(
      'wait… then “stop” now',
    );
  });

  it('does not rewrite anything outside of the match', async () => {
    const text = 'keep “this”  \nfix  \nkeep ‘that’\u00a0\n';
    expect(await edited(text, "fix\nkeep 'that'", "fixed\nkeep 'that'")).toBe(
      'keep “this”  \nfixed  \nkeep ‘that’\u00a0\n',
    );
  });

  it('says that it was needed', async () => {
    const outcome = await editText('a “b”', { oldString: '"b"', newString: '"c"', replaceAll: false });
    expect(outcome).toMatchObject({ ok: true, loose: true, text: 'a “c”' });
  });

  it('does not let blanks at the end of the string match inside of a line', async () => {
    expect(await refusal('x = 10\n', 'x = 1 ')).toContain('not found');
    expect(await edited('x = 1\ny\n', 'x = 1  ', 'x = 2')).toBe('x = 2\ny\n');
  });

  it('is not unique where it finds two', async () => {
    expect(await refusal('“a”\n‘’\n“a”\n', '"a"')).toContain('occurs 2 times (lines 1, 3)');
  });

  it('does not touch indentation', async () => {
    expect(await refusal('\tfoo()\n', '    foo()\n')).toContain('line 1');
  });

  it('finds control characters under the mark that stands for them', async () => {
    expect(await edited('a\x0cb\nc\n', 'a\ufffdb\nc', 'a\ufffdb\nd')).toBe('a\x0cb\nd\n');
  });

  it('stays quick on a long run of blanks', async () => {
    expect(await refusal(`${' '.repeat(500_000)}x\n`, 'nowhere')).toContain('not found');
  });
});

describe('what cannot be found', () => {
  it('names the line that is nearly right', async () => {
    expect(await refusal('a\n    foo()\n    bar()\n', 'foo()\n  baz()\n')).toContain('line 2');
  });

  it('notices line numbers', async () => {
    expect(await refusal('foo\nbar\n', '     1\tfoo\n     2\tbar')).toContain('line numbers');
  });
});

const line = fc.stringMatching(/^[ab“”"\-–… \t]{0,6}$/);
const ending = fc.constantFrom('\n', '\r\n');

describe('any text', () => {
  it('keeps all lines but the replaced one, byte for byte, whatever endings and blanks it has', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(line, ending), { maxLength: 6 }),
        fc.nat(6),
        async (lines, place) => {
          const at = Math.min(place, lines.length);
          const before = lines
            .slice(0, at)
            .map(([text, end]) => text + end)
            .join('');
          const after = lines
            .slice(at)
            .map(([text, end]) => text + end)
            .join('');
          const seen = (text: string): string => text.replaceAll('\r\n', '\n');
          const oldString = `${seen(before)}NEEDLE\n${seen(after)}`;
          const newString = `${seen(before)}THREAD\n${seen(after)}`;
          expect(await edited(`${before}NEEDLE\r\n${after}`, oldString, newString)).toBe(
            `${before}THREAD\r\n${after}`,
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});
