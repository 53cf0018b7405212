import { describe, expect, it } from 'vitest';
import { plainOutput, terminalLines } from './ansi.js';

const E = '\u001b';

describe('terminalLines', () => {
  it('gives colours and decorations as classes', () => {
    expect(terminalLines(`${E}[1;32mok${E}[0m plain`)).toEqual([
      [
        { text: 'ok', classes: 'ansi-fg-green ansi-bold' },
        { text: ' plain', classes: '' },
      ],
    ]);
  });

  it('carries a colour over to the next line', () => {
    const [first, second] = terminalLines(`${E}[31mone\ntwo${E}[0m`);
    expect(first).toEqual([{ text: 'one', classes: 'ansi-fg-red' }]);
    expect(second).toEqual([{ text: 'two', classes: 'ansi-fg-red' }]);
  });

  it('takes the nearest of sixteen for larger palettes', () => {
    const [line] = terminalLines(`${E}[38;5;196mred${E}[0m${E}[48;2;0;180;10mgreen${E}[0m`);
    expect(line?.map((span) => span.classes)).toEqual(['ansi-fg-red', 'ansi-bg-green']);
  });

  it('shows what a line was overwritten with', () => {
    expect(plainOutput('10%\r50%\r100%\ndone\n')).toBe('100%\ndone');
    expect(plainOutput('working\r')).toBe('working');
    expect(plainOutput('a\r\nb\r\n')).toBe('a\nb');
    expect(plainOutput('b\bbo\bol\bld\bd')).toBe('bold');
  });

  it('obeys no cursor, title, link or charset, and keeps the text', () => {
    const output = `${E}[2J${E}[Hfirst${E}[5A${E}[K${E}]0;title\u0007 ${E}]8;;http://x.test${E}\\link${E}]8;;${E}\\${E}(B${E}7 end`;
    expect(plainOutput(output)).toBe('first link end');
  });

  it('hides nothing: concealed text and invisible characters are shown', () => {
    expect(terminalLines(`${E}[8mrm -rf ~${E}[0m`)).toEqual([
      [{ text: 'rm -rf ~', classes: 'ansi-revealed' }],
    ]);
    expect(plainOutput('a\u202eb\u0001')).toBe('a[U+202E]b\u2401');
  });

  it('takes markup as text', () => {
    expect(plainOutput('<script>alert(1)</script>&amp;')).toBe('<script>alert(1)</script>&amp;');
  });

  it('is not held up by sequences that never end', () => {
    expect(plainOutput(`${E}]0;${'x'.repeat(200_000)}`).length).toBeGreaterThan(0);
    expect(plainOutput(`${E}[${'1;'.repeat(100_000)}`).length).toBeGreaterThan(0);
    expect(terminalLines(`${E}[31ma`.repeat(20_000))).toHaveLength(1);
  });
});
