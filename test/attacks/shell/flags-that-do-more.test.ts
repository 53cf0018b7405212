/** A program that reads, with a flag by which it writes, executes or sends. The whole table has its own test. */
import { describe, expect, it } from 'vitest';
import examples from '../../../src/permissions/shell/flag-examples.json' with { type: 'json' };
import { isReadOnlyCommand } from '../../../src/permissions/shell/read-only.js';
import { probe } from '../policy-probe.js';

const ATTACKS = [
  'find . -exec rm {} \\;',
  'find . -delete',
  'find . -fprintf x %p',
  'sed -i s/a/b/ f',
  "sed 's/x/y/e' f",
  "sed 'w f' g",
  'rg --pre ./x y',
  'sort -o f g',
  'sort --compress-program=./x g',
  'git diff --output=f HEAD',
  'git grep -O./x y',
  'git ls-remote --upload-pack=./x y',
  'git -c core.pager=./x log',
  'man --html=./x y',
  'xargs rm',
  'awk \'BEGIN{system("id")}\'',
  'tar tf a --to-command=./x',
  'env ./x',
  'less f',
];
const PROGRAMS = [
  'find',
  'sed',
  'rg',
  'sort',
  'git',
  'git diff',
  'git grep',
  'git ls-remote',
  'man',
  'xargs',
  'awk',
  'tar',
  'env',
  'less',
];

describe('a reading program that does more', () => {
  const prefixes = probe({ allow: [...PROGRAMS.map((program) => `Bash(${program}:*)`), 'Read', 'Edit'] });
  it.each(ATTACKS)('no prefix rule covers: %s', async (command) => {
    const decision = await prefixes.bash(command);
    expect(decision.behaviour).toBe('ask');
    expect(decision.because.kind).toBe('shell');
  });

  it.each(ATTACKS)('is not taken for one that only reads: %s', async (command) => {
    expect(isReadOnlyCommand(command)).toBe(false);
    expect((await probe({ mode: 'read-only' }).bash(command)).behaviour).toBe('deny');
  });

  it('is covered by a rule for exactly that command', async () => {
    for (const command of ATTACKS) {
      expect((await probe({ allow: [`Bash(${command})`] }).bash(command)).behaviour, command).toBe('allow');
    }
  });

  it('is never taken for one that only reads, of all the commands in the table', () => {
    const all = examples.flatMap(({ never }) => never.map((example) => example.replace(/^.* :: /, '')));
    expect(all.filter((command) => isReadOnlyCommand(command))).toEqual([]);
  });
});
