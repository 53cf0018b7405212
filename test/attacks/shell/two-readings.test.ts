/** A text that the checker and the shell read in two ways. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyse, shellParser } from '../../../src/permissions/shell/analyse.js';
import { readPlain } from '../../../src/permissions/shell/lexer.js';
import { probe } from '../policy-probe.js';

/** Prints its arguments, each behind a mark, and so shows how bash read them. */
const PRINT = 'p() { for a in "$@"; do printf "\\001%s" "$a"; done; printf "\\002"; }\n';

function bashReads(command: string): string[][] {
  const output = execFileSync('bash', ['-c', PRINT + command], { encoding: 'utf8', env: {} });
  return output
    .split('\x02')
    .slice(0, -1)
    .map((words) => words.split('\x01').slice(1));
}

describe('one text, two readings', () => {
  const rules = probe({ allow: ['Bash(ls:*)', 'Bash(echo:*)'] });
  it.each([
    'ls\r\nrm x',
    'ls \r rm x',
    'echo "a',
    "echo 'a",
    'echo a\\',
    'echo "a\\',
    'ls;',
    'ls ;; rm',
    'ls &&',
    '&& ls',
    '| ls',
    'ls |',
    'echo )',
    'echo (',
    'echo }',
    '}',
    'echo "$(',
    'echo `',
    'echo $((',
    'echo <<',
    'echo a#b; #',
    '',
    '   ',
    '\n',
    '#',
    'echo !$',
    'echo ^a^b',
  ])('is decided without an error: %j', async (command) => {
    const decision = await rules.bash(command);
    expect(['allow', 'ask']).toContain(decision.behaviour);
    if (/rm/.test(command) || /["'`(]/.test(command)) expect(decision.behaviour).toBe('ask');
  });

  it('reads every plain command as bash does', () => {
    const piece = fc.constantFrom(
      'a',
      'b-c',
      '-x',
      "'q r'",
      '"d e"',
      "'$x'",
      '"f\\"g"',
      '\\ ',
      '\\;',
      '\'a\'"b"c',
      'x=1',
      '"e$"',
      "'\n'",
      'é',
      '{}',
      'a{b}',
      '^',
      '%',
      '!',
      '@',
      'a#b',
      '--',
      '"\\a"',
      "''",
      'HEAD~1',
      '+',
      ']',
      'a:b',
    );
    const words = fc.array(piece, { minLength: 0, maxLength: 5 }).map((list) => ['p', ...list].join(' '));
    const line = fc.array(fc.tuple(fc.constantFrom(' && ', ';', '\n', ' ; ', '\n\n', ' &&\n'), words), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(words, line, (first, rest) => {
        const command = first + rest.map(([joiner, next]) => joiner + next).join('');
        const reading = readPlain(command);
        expect(reading.plain, command).toBe(true);
        if (!reading.plain) return;
        expect(reading.commands.map((each) => each.words.slice(1))).toEqual(bashReads(command));
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it('what is not plain for one reader is plain for none', async () => {
    const parser = await shellParser();
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ab \t\n;&|()<>{}$`"\'\\*?[]#~=!-0'), maxLength: 24 }),
        (command) => {
          const analysis = analyse(parser, command);
          if (analysis.plain === undefined) return;
          // Nothing that bash would expand, redirect or run elsewhere may be left in a plain reading.
          const quoted = command.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./gs, '');
          expect(quoted).not.toMatch(/[<>()`*?[]|\$|(?<!&)&(?!&)/);
        },
      ),
      { numRuns: 3_000 },
    );
  }, 60_000);
});
