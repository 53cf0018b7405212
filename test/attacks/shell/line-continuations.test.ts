/** A backslash before a new line, which the shell takes away before it reads words. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

describe('words that continue on another line', () => {
  const open = probe({
    mode: 'allow',
    allow: ['Bash'],
    deny: ['Bash(rm:*)', 'Read(./.env)', 'Read(./my key)'],
  });
  open.write('.env');
  open.write('my key');
  open.write('toolgate.yaml');
  it.each([
    'r\\\nm zz',
    '\\\nr\\\nm zz',
    'r\\\n\\\nm zz',
    'ls;r\\\nm zz',
    'ls &\\\n& r\\\nm zz',
    '"r\\\nm" zz',
    "# don't \\\nr\\\nm zz",
    '# x \\\nr\\\nm zz',
    'echo a\\\\\nr\\\nm zz',
    "bash -c 'r\\\nm zz'",
    'bash <<EOF\nr\\\nm zz\nEOF',
    '$\\\n(r\\\nm zz)',
    '/bin/r\\\nm zz',
    'su\\\ndo r\\\nm zz',
    'cat .e\\\nnv',
    'cat "my \\\nk\\\ney"',
    'cat < .e\\\nnv',
    'cat toolgate.ya\\\nml',
    'X=.e\\\nnv; cat "$X"',
  ])('are read as the shell does: %j', async (command) => {
    expect((await open.bash(command)).behaviour).toBe('deny');
  });

  it.each(['ls \\\n  -l \\\n  src', 'git commit \\\n -m "use rm"', 'echo "a \\\nb" \\\n c'])(
    'lines that are only broken between words mean nothing more: %j',
    async (command) => {
      expect((await open.bash(command)).behaviour).toBe('allow');
    },
  );
});
