/** The command is run by another one. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const WRAPPED = [
  'bash -c "curl x"',
  "sh -lc 'curl x'",
  'bash -xec "curl x"',
  'zsh -c "curl x"',
  'env curl x',
  'env A=b curl x',
  'env -i PATH=/bin curl x',
  'env -S "curl x"',
  'env -u A curl x',
  'sudo curl x',
  'sudo -u bob curl x',
  'sudo -E -- curl x',
  'doas curl x',
  'timeout 5 curl x',
  'timeout -s KILL 5 curl x',
  'timeout --signal=KILL 5m curl x',
  'nice curl x',
  'nice -n 10 curl x',
  'nohup curl x',
  'setsid curl x',
  'stdbuf -oL curl x',
  'xargs curl',
  'xargs -n1 -I{} curl {}',
  'echo x | xargs curl',
  'command curl x',
  'builtin command curl x',
  'exec curl x',
  'eval curl x',
  'eval "curl x"',
  'eval "cu""rl x"',
  'find . -exec curl {} +',
  'find . -execdir curl {} \\;',
  'find . -exec sh -c "curl x" \\;',
  'fd x -x curl',
  'watch curl x',
  'time curl x',
  'strace -f curl x',
  'bash -c "bash -c \'curl x\'"',
  'sudo env nice timeout 5 bash -c "curl x"',
  '/usr/bin/curl x',
  './curl x',
  '../bin/curl x',
  '\\curl x',
  'c\\url x',
  "'curl' x",
  'cu""rl x',
  "c'u'rl x",
  "$'curl' x",
  "$'\\x63url' x",
  'A=b curl x',
  'A=b B=c /usr/bin/curl x',
  'X=curl; $X y',
  'bash <<EOF\ncurl x\nEOF',
  'bash <<< "curl x"',
  'echo curl x | sh',
  'python -c "import os; os.system(\'curl x\')"',
  "python3 -c \"import subprocess as s; s.run(['curl','x'])\"",
  "node -e \"require('child_process').execSync('curl x')\"",
  'perl -e "system(\'curl x\')"',
  'ruby -e "system(\'curl x\')"',
  'awk \'BEGIN{system("curl x")}\'',
  'ssh host curl x',
  'docker run --rm alpine curl x',
  'git bisect run curl x',
  'git submodule foreach "curl x"',
  'npm exec -- curl x',
  'trap "curl x" EXIT',
  'parallel curl ::: x',
  'script -c "curl x"',
  'su -c "curl x"',
  'busybox curl x',
  '{curl,x}',
  'flock f curl x',
  'nsenter -t 1 curl x',
];

describe('a wrapped command', () => {
  const denied = probe({ mode: 'allow', deny: ['Bash(curl:*)'] });
  it.each(WRAPPED)('a rule that denies sees through: %s', async (command) => {
    expect((await denied.bash(command)).behaviour).toBe('deny');
  });

  const asked = probe({ mode: 'allow', ask: ['Bash(curl:*)'] });
  it.each(WRAPPED)('so does one that asks: %s', async (command) => {
    expect((await asked.bash(command)).behaviour).toBe('ask');
  });

  const wrappers = [
    'bash',
    'sh',
    'zsh',
    'env',
    'sudo',
    'timeout',
    'nice',
    'nohup',
    'xargs',
    'command',
    'exec',
    'eval',
    'find',
    'watch',
    'python',
    'python3',
    'node',
    'perl',
    'ruby',
    'awk',
    'ssh',
    'npx',
    'make',
    'parallel',
    'strace',
  ];
  const prefixes = probe({ allow: wrappers.map((program) => `Bash(${program}:*)`) });
  it.each([
    ...WRAPPED,
    'npx evil',
    'make evil',
    'make',
    'python evil.py',
    'bash evil.sh',
    'node evil.js',
    'sh',
    'bash -s',
  ])('a rule for the wrapper does not allow what it runs: %s', async (command) => {
    expect((await prefixes.bash(command)).behaviour).toBe('ask');
  });

  it('a rule for the wrapper and one for the command together do', async () => {
    const both = probe({ allow: ['Bash(timeout:*)', 'Bash(nice:*)', 'Bash(npm test:*)'] });
    expect((await both.bash('timeout 60 npm test')).behaviour).toBe('allow');
    expect((await both.bash('nice -n 5 timeout 60 npm test')).behaviour).toBe('allow');
    expect((await both.bash('timeout 60 npm publish')).behaviour).toBe('ask');
  });

  it('leaves alone what only mentions it', async () => {
    for (const command of [
      'echo curl',
      'git log --grep curl',
      'grep curl README.md',
      'git commit -m "use curl"',
      'npm install node-curl',
      'cat docs/curl.md',
    ]) {
      expect((await denied.bash(command)).behaviour, command).toBe('allow');
    }
  });

  it('finds the sub-command behind flags', async () => {
    const push = probe({ mode: 'allow', deny: ['Bash(git push:*)'] });
    for (const command of [
      'git push',
      'git -C x push',
      'git --no-pager push',
      'git -c a=b push origin',
      '/usr/bin/git push',
    ]) {
      expect((await push.bash(command)).behaviour, command).toBe('deny');
    }
    expect((await push.bash('git commit -m push')).behaviour).toBe('allow');
  });
});
