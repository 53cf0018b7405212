import { describe, expect, it } from 'vitest';
import { plainText } from '../../workspace/process/terminal-text.js';
import { BASH_LIMITS } from './limits.js';
import { presentOutput } from './present-output.js';

const whole = (text: string) => ({ before: Buffer.from(text), omitted: 0, after: Buffer.alloc(0) });

describe('presentOutput', () => {
  it('has the codes of a terminal for people alone', () => {
    const { text, shown } = presentOutput(whole('\u001b[32mok\u001b[0m\n'), undefined);
    expect(text).toBe('ok\n');
    expect(shown).toBe('\u001b[32mok\u001b[0m\n');
  });

  it('takes nothing for its own of what stands behind a code that has no end', () => {
    expect(presentOutput(whole('\u001b[1mok\u001b]0;title'), undefined).shown).toBe('\u001b[1mok');
    expect(presentOutput(whole('ok\u001b['), undefined).shown).toBeUndefined();
  });

  it('has one text where there are none', () => {
    expect(presentOutput(whole('ok\n'), undefined).shown).toBeUndefined();
    expect(presentOutput(whole('\0'.repeat(500)), undefined).shown).toBeUndefined();
  });

  it('is as short for people as for the model, and cut between codes', () => {
    const output = '\u001b[38;5;196mred\u001b[0m,'.repeat(20_000);
    const { text, shown = '' } = presentOutput(whole(output), { path: '/log', complete: true });
    expect(shown.length).toBeLessThan(BASH_LIMITS.outputChars + 300);
    const [head = '', note = '', tail = ''] = shown.split('\n').filter((line) => line !== '');
    expect(note).toMatch(/^\[About \d+ characters left out here\. The whole output is in \/log/);
    expect(text).not.toContain('\u001b');
    expect(head).toMatch(/\u001b\[0m$/);
    for (const part of [head, tail])
      expect(plainText(part)).toMatch(/^(?:red|ed|d)?,?(?:red,)*(?:r|re|red)?$/);
  });
});
