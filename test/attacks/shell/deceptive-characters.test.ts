/** What is shown is not what runs: padding, direction marks, characters that are not seen. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const UNSEEN = [
  '\u202e',
  '\u2066',
  '\u200b',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\u00a0',
  '\u3000',
  '\u2028',
  '\u00ad',
  '\u115f',
  '\u3164',
  '\u{e0041}',
  '\x1b[2K',
  '\x07',
  '\x08',
  '\x00',
  '\x0b',
  '\x0c',
  '\x7f',
  '\u009b',
  '\u061c',
  '\ufe0f',
  '\u2800',
];

describe('characters that deceive', () => {
  const rules = probe({ allow: ['Bash(ls:*)', 'Bash(echo:*)'] });
  it.each(UNSEEN.map((char) => [char.codePointAt(0)?.toString(16), char]))(
    'U+%s needs a person',
    async (_, char) => {
      for (const command of [`ls ${char}`, `echo 'a${char}b'`, `ls${char}-l`]) {
        const decision = await rules.bash(command);
        expect(decision.behaviour).toBe('ask');
        expect(decision.message).toMatch(/U\+[0-9A-F]{4}/);
      }
    },
  );

  it('letters of every language do not', async () => {
    for (const command of ['echo héllo', 'echo 你好', 'ls "Ünïcode 😀"', 'echo مرحبا']) {
      expect((await rules.bash(command)).behaviour, command).toBe('allow');
    }
  });

  it('padding hides nothing from a rule', async () => {
    expect((await rules.bash(`ls ${' '.repeat(500)}; rm x`)).behaviour).toBe('ask');
    expect((await rules.bash(`ls${'\n'.repeat(200)}rm x`)).behaviour).toBe('ask');
  });
});
