/** Only the first command is looked at, and the rest runs along. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const BEHIND = [
  'ls && rm x',
  'ls ; rm x',
  'ls;rm x',
  'ls || rm x',
  'ls | rm x',
  'ls |& rm x',
  'ls & rm x',
  'ls &rm x',
  'ls\nrm x',
  'ls\n\n  rm x',
  'ls\r\nrm x',
  'ls\rrm x',
  'ls && ls && ls && rm x',
  'ls|cat|rm x',
  'ls -l;\trm x',
];

describe('a command behind an allowed one', () => {
  const allowed = probe({ allow: ['Bash(ls:*)', 'Bash(cat:*)'] });
  it.each(BEHIND)('is not let through by its neighbour: %j', async (command) => {
    expect((await allowed.bash(command)).behaviour).toBe('ask');
  });

  const denied = probe({ mode: 'allow', deny: ['Bash(rm:*)'] });
  // A carriage return is part of a word for bash, so that `ls\rrm` is no `rm`.
  it.each(BEHIND.filter((command) => command !== 'ls\rrm x'))(
    'is denied by its own rule: %j',
    async (command) => {
      expect((await denied.bash(command)).behaviour).toBe('deny');
    },
  );

  it('is let through where every command has a rule', async () => {
    for (const command of ['ls && cat x', 'ls;cat x|cat', 'ls\ncat x', 'ls || cat x']) {
      expect((await allowed.bash(command)).behaviour, command).toBe('allow');
    }
  });
});
