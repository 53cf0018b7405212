/** A variable in front of an allowed command makes it do something else. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

describe('variables in front of a command', () => {
  const rules = probe({
    allow: [
      'Bash(git log:*)',
      'Bash(ls:*)',
      'Bash(npm test:*)',
      'Bash(env:*)',
      'Bash(export:*)',
      'Bash(declare:*)',
    ],
  });
  it.each([
    'GIT_PAGER=./x git log',
    'GIT_EXTERNAL_DIFF=./x git log -p',
    'LD_PRELOAD=./x ls',
    'PATH=. ls',
    'NODE_OPTIONS=--require=./x npm test',
    'BASH_ENV=./x ls',
    'env LD_PRELOAD=./x ls',
    'export PATH=.; ls',
    'declare -x PATH=.; ls',
    'a[0]=1 ls',
    'A+=x ls',
    'IFS=/ ls',
  ])('no prefix rule covers: %s', async (command) => {
    expect((await rules.bash(command)).behaviour).toBe('ask');
  });

  it('a rule that denies sees the command behind them', async () => {
    expect(
      (await probe({ mode: 'allow', deny: ['Bash(git log:*)'] }).bash('A=b GIT_PAGER=./x git log')).behaviour,
    ).toBe('deny');
  });
});
