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

const NO_EXAMPLES = { never: [], covered: [] };
const firstName = (row: (typeof FLAG_TABLE)[number]): string => row.programs.split(' ')[0] ?? '';

/** The forms of a program's dangerous flags that would be covered: there is to be none. */
function coveredFlags(program: string): string[] {
  return FLAG_TABLE.filter((row) => firstName(row) === program)
    .flatMap((row) => [row.writes, row.executes, row.sends])
    .flatMap((flags) => (flags === undefined || flags === '' ? [] : flags.split(' ')))
    .flatMap((flag) => [
      [program, flag, 'x'],
      ...(flag.startsWith('--')
        ? [
            [program, `${flag}=x`],
            [program, flag.slice(0, -1), 'x'],
          ]
        : []),
    ])
    .filter((words) => uncovered(words, 1, () => undefined) === undefined)
    .map((words) => words.join(' '));
}

describe('the table of flags', () => {
  it('has each program once', () => {
    const names = FLAG_TABLE.flatMap((row) => row.programs.split(' '));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('has examples for every row', () => {
    const shown = examples.filter(({ never }) => never.length > 0).map(({ program }) => program);
    expect(FLAG_TABLE.map(firstName).filter((program) => !shown.includes(program))).toEqual([]);
  });

  const programs = new Set([...FLAG_TABLE.map(firstName), ...examples.map(({ program }) => program)]);

  it.each([...programs])('judges every example and every flag of %s', (program) => {
    const { never, covered } = examples.find((entry) => entry.program === program) ?? NO_EXAMPLES;
    expect({
      'covered by a prefix rule, but dangerous': [
        ...never.filter((example) => judge(example) === undefined),
        ...coveredFlags(program),
      ],
      'not covered by a prefix rule, but harmless': covered.filter((example) => judge(example) !== undefined),
    }).toEqual({
      'covered by a prefix rule, but dangerous': [],
      'not covered by a prefix rule, but harmless': [],
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
