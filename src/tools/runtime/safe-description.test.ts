import { describe, expect, it } from 'vitest';
import { safeDescription } from './safe-description.js';

const shown = (command: string): string | undefined =>
  safeDescription({ title: 'x', kind: 'command', paths: [], command }).command;

describe('what a person is shown', () => {
  it.each([
    ['a change of direction', 'ls \u202e#fr mr', 'ls \\u{202e}#fr mr'],
    ['nothing, to the eye', 'rm\u200b -rf', 'rm\\u{200b} -rf'],
    ['a filler that looks like a space', 'a\u3164b', 'a\\u{3164}b'],
    ['tags', 'a\u{e0041}b', 'a\\u{e0041}b'],
    ['a return to the start of the line', 'rm -rf /\rls', 'rm -rf /\\u{d}ls'],
    ['a terminal sequence', 'rm\x1b[2Kls', 'rm\\u{1b}[2Kls'],
    ['a line separator', 'ls\u2028rm', 'ls\\u{2028}rm'],
    ['spaces that push the rest away', `ls${' '.repeat(80)}; rm`, 'ls [80 spaces] ; rm'],
  ])('writes out %s', (_what, command, expected) => {
    expect(shown(command)).toBe(expected);
  });

  it('leaves ordinary text as it is', () => {
    const command = 'echo "héllo 世界 ✔️" |\n\tgrep -v x';
    expect(shown(command)).toBe(command);
  });

  it('has a title and paths of one line', () => {
    const { title, paths } = safeDescription({
      title: 'Run a\nAllowed: yes',
      kind: 'other',
      paths: ['/a\n/b'],
    });
    expect(title).toBe('Run a\\nAllowed: yes');
    expect(paths).toEqual(['/a\\n/b']);
  });

  it('never cuts a command, and says how much of anything else is left out', () => {
    const long = 'x'.repeat(300_000);
    const { command, detail, title } = safeDescription({
      title: long,
      kind: 'other',
      paths: [],
      command: long,
      detail: long,
    });
    expect(command).toBe(long);
    expect(detail).toMatch(/… \(100000 more characters\)$/);
    expect(title).toHaveLength(300 + '… (299700 more characters)'.length);
  });
});
