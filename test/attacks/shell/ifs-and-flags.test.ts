/** `$IFS`, and flags that a checker reads in another way than the program. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const CASES = [
  'cat$IFS/etc/passwd',
  `cat\${IFS}x`,
  'sort$IFS-o$IFS/x',
  'sort -oout in',
  'sort -uoout in',
  'sort --outp=x in',
  'sort --o=x in',
  'sort in -o x',
  'sort -- in -o x',
  'git log --outpu x',
  'git diff --output x',
  "git diff '--output=x'",
  'git diff "--out"put=x',
  'git diff --out\\put=x',
  'rg --pre=sh x',
  "rg '--pre' sh x",
  'find . -e"xec" rm {}',
];

describe('flags that hide', () => {
  const allowed = probe({
    allow: [
      'Bash(cat:*)',
      'Bash(sort:*)',
      'Bash(git:*)',
      'Bash(git log:*)',
      'Bash(git diff:*)',
      'Bash(rg:*)',
      'Bash(find:*)',
      'Read(//**)',
    ],
  });
  it.each(CASES)('no prefix rule covers: %s', async (command) => {
    expect((await allowed.bash(command)).behaviour).toBe('ask');
  });
});
