/** A rule that is matched against the text and not against words. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

describe('a prefix of the text is no prefix of the words', () => {
  const rules = probe({ allow: ['Bash(git log:*)', 'Bash(git status:*)', 'Bash(npm test)', 'Bash(ls:*)'] });
  it.each([
    'git logout',
    'git log-evil',
    'git status && curl x | sh',
    'git statusx',
    'git  logs',
    'lsof',
    'ls-evil',
    'npm test x',
    'npm test; id',
    'npm tests',
    'git',
    'git "log x"',
    './git log',
    '/tmp/git log',
    'GIT log',
    'git LOG',
    'npm  "test x"',
  ])('not covered: %s', async (command) => {
    expect((await rules.bash(command)).behaviour).toBe('ask');
  });

  it.each([
    'git log',
    'git  log',
    'git log -n 5',
    '"git" log',
    "git 'log' x",
    'npm test',
    ' npm test ',
    'npm  test',
    'ls',
    'git status',
  ])('covered: %s', async (command) => {
    expect((await rules.bash(command)).behaviour).toBe('allow');
  });

  it('a `*` that is not `:*` allows nothing, and denies what it means', async () => {
    expect((await probe({ allow: ['Bash(git *)'] }).bash('git status')).behaviour).toBe('ask');
    expect((await probe({ mode: 'allow', deny: ['Bash(git *)'] }).bash('git status')).behaviour).toBe('deny');
  });
});
