/**
 * A script is written with one tool and run with another. The text of a command does not tell
 * what a script does; that is what the sandbox is for. What rules can do: a script needs a rule
 * that names it, and a rule for the interpreter alone does not.
 */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

describe('a script of the model', () => {
  const rules = probe({
    allow: [
      'Edit',
      'Read',
      'Bash(bash:*)',
      'Bash(sh:*)',
      'Bash(python:*)',
      'Bash(node:*)',
      'Bash(npx:*)',
      'Bash(make:*)',
      'Bash(chmod:*)',
      'Bash(source:*)',
      'Bash(git:*)',
      'Bash(node build.js:*)',
    ],
  });
  it.each([
    './helper.sh',
    'bash helper.sh',
    'sh ./helper.sh',
    'python helper.py',
    'node helper.js',
    'npx ./helper',
    'source helper.sh',
    '. ./helper.sh',
    'make helper',
    'git helper',
    'chmod +x helper.sh && ./helper.sh',
  ])('needs a rule that names it: %s', async (command) => {
    expect((await rules.bash(command)).behaviour).toBe('ask');
  });

  it('runs with one', async () => {
    expect((await rules.bash('node build.js --fast')).behaviour).toBe('allow');
  });
});
