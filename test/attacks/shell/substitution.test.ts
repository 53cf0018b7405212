/** The output or the side effect of another command comes in by substitution. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const HIDDEN = [
  'echo $(rm x)',
  'echo "$(rm x)"',
  'echo `rm x`',
  'echo "`rm x`"',
  'cat <(rm x)',
  'echo x > >(rm x)',
  'FOO=$(rm x) echo',
  'FOO=`rm x` echo',
  'echo $(echo $(rm x))',
  `echo \${x:-$(rm x)}`,
  'echo $((1 + $(rm x)))',
  `echo "a\${b:=\`rm x\`}"`,
  'cat <<EOF\n$(rm x)\nEOF',
  'for f in $(rm x); do echo; done',
  'case $(rm x) in *) echo;; esac',
  '[[ $(rm x) ]] && echo',
  'f() { rm x; }; f',
  '{ rm x; }',
  '( rm x )',
  'if rm x; then echo; fi',
  'while rm x; do echo; done',
  '! rm x',
  'time rm x',
  'coproc rm x',
  'arr=($(rm x)); echo',
  'echo $(<x; rm x)',
];
const EXPANDED = [
  'echo $x',
  `echo \${x}`,
  `echo \${x@P}`,
  `echo \${!x}`,
  'echo $((1+1))',
  'echo $[1+1]',
  "echo $'a'",
  'echo $"a"',
  'echo *',
  'echo ?',
  'echo [a]',
  'echo {a,b}',
  'echo {1..3}',
  'echo ~',
  'echo a:~',
  'X=1 echo',
  'echo "$x"',
  'echo a\\\nb',
  'echo =ls',
  'echo @(a|b)',
  'echo x # y',
];

describe('substitution', () => {
  const allowed = probe({ allow: ['Bash(echo:*)', 'Bash(cat:*)', 'Bash(f:*)'] });
  it.each([...HIDDEN, ...EXPANDED])('no prefix rule covers: %j', async (command) => {
    expect((await allowed.bash(command)).behaviour).toBe('ask');
  });

  const denied = probe({ mode: 'allow', deny: ['Bash(rm:*)'] });
  it.each(HIDDEN)('a rule that denies sees it: %j', async (command) => {
    expect((await denied.bash(command)).behaviour).toBe('deny');
  });

  it('is not seen in quotes that make it text', async () => {
    for (const command of ["echo '$(rm x)'", "echo '`rm x`'", 'echo "\\$(rm x)"', 'echo \\$x', "echo '*'"]) {
      expect((await allowed.bash(command)).behaviour, command).toBe('allow');
      expect((await denied.bash(command)).behaviour, command).toBe('allow');
    }
  });
});
