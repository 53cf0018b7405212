import { describe, expect, it } from 'vitest';
import examples from './flag-examples.json' with { type: 'json' };
import { FLAG_TABLE, programRow } from './flag-table.js';
import { type Danger, uncovered } from './flags.js';
import { readPlain } from './lexer.js';

const RULE_OF_ITS_OWN: Danger = { part: '', problem: 'needs a rule of its own' };

/** `git push :: git push origin`: the rule's words, then the command. */
function judge(example: string): Danger | undefined {
  const at = example.indexOf(' :: ');
  const command = at === -1 ? example : example.slice(at + 4);
  const reading = readPlain(command);
  if (!reading.plain) throw new Error(`${command} is not plain: ${reading.problem}`);
  const words = reading.commands[0]?.words ?? [];
  const named = at === -1 ? 1 : example.slice(0, at).split(' ').length;
  return uncovered(words, named, () => RULE_OF_ITS_OWN);
}

describe('the table of flags', () => {
  it.each(FLAG_TABLE.map((row) => row.programs.split(' ')[0] ?? ''))('has examples for %s', (program) => {
    const row = examples.find((entry) => entry.program === program);
    expect(row?.never.length).toBeGreaterThan(0);
  });

  it('has each program once', () => {
    const names = FLAG_TABLE.flatMap((row) => row.programs.split(' '));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  for (const { program, never, covered } of examples) {
    describe(program, () => {
      it.each(never)('no prefix rule covers: %s', (example) => {
        expect(judge(example)).toBeDefined();
      });

      if (covered.length > 0) {
        it.each(covered)('a prefix rule covers: %s', (example) => {
          expect(judge(example)).toBeUndefined();
        });
      }
    });
  }

  describe('every flag of every row', () => {
    const cases = FLAG_TABLE.flatMap((row) => {
      const program = row.programs.split(' ')[0] ?? '';
      return [row.writes, row.executes, row.sends]
        .flatMap((flags) => (flags === undefined || flags === '' ? [] : flags.split(' ')))
        .map((flag): [string, string] => [program, flag]);
    });

    it.each(cases)('%s %s', (program, flag) => {
      expect(uncovered([program, flag, 'x'], 1, () => undefined)).toBeDefined();
      if (flag.startsWith('--')) {
        expect(uncovered([program, `${flag}=x`], 1, () => undefined)).toBeDefined();
        expect(uncovered([program, flag.slice(0, -1), 'x'], 1, () => undefined)).toBeDefined();
      }
    });
  });

  it('knows a program by its path and its version', () => {
    expect(programRow('/usr/bin/python3.12')).toBe(programRow('python'));
    expect(programRow('gcc-12')).toBe(programRow('gcc'));
    expect(programRow('unheard-of')).toBeUndefined();
  });

  it('looks through a wrapper with a rule for what it runs', () => {
    const seen: (readonly string[])[] = [];
    const inner = (words: readonly string[]): Danger | undefined => {
      seen.push(words);
      return undefined;
    };
    expect(uncovered(['timeout', '-k', '5', '60', 'npm', 'test', '-o'], 1, inner)).toBeUndefined();
    expect(seen).toEqual([['npm', 'test', '-o']]);
    expect(uncovered(['env', 'npm', 'test'], 1, inner)).toBeDefined();
  });
});
