/** C2: a repository whose own configuration has git run programs, in a folder where git may only read. */
import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAgent } from './agent-probe.js';
import { type Probe, probe } from './policy-probe.js';

const ALLOWED = ['Bash(git status:*)', 'Bash(git diff:*)'];

const RUNS: readonly [what: string, files: Readonly<Record<string, string>>][] = [
  ['an external diff', { '.git/config': '[diff]\n\texternal = touch x\n' }],
  ['one behind its section', { '.git/config': '[core][diff] external = touch x ]\n' }],
  [
    'one behind a value that looks like a section',
    { '.git/config': '[diff]\nx = a\\\n[user]\nExternal=y\n' },
  ],
  ['a driver of a diff', { '.git/config': '[diff "a]b"] command = touch x\n' }],
  ['a conversion to text', { '.git/config': '[diff "x"]\ntextConv=touch x\n' }],
  ['a filter', { '.git/config': '[filter "x"]\n  clean = touch x\n' }],
  ['a filter that stays', { '.git/config': '[filter "x"]\n  process = touch x\n' }],
  ['a monitor', { '.git/config': '[core]\n  fsmonitor = touch x\n' }],
  ['another file', { '.git/config': '[include]\n  path = ../more\n' }],
  ['hooks elsewhere', { '.git/config': '[core]\n  hooksPath = evil\n' }],
  ['a check of signatures', { '.git/config': '[gpg]\n  program = ./evil\n' }],
  ['the configuration of a worktree', { '.git/config.worktree': '[diff]\n  external = x\n' }],
  ['more than is looked through', { '.git/config': `# ${'x'.repeat(300_000)}\n` }],
  ['a hook', { '.git/hooks/post-index-change': '#!/bin/sh\n' }],
  ['a submodule', { '.git/modules/a/b/HEAD': '', '.git/modules/a/b/config': '[diff]\nexternal = x\n' }],
  ['a worktree elsewhere', { '.git': 'gitdir: ../outside/w\n' }],
  ['a worktree at the end of a long file', { '.git': `gitdir: ../outside/w${'\n'.repeat(9_000)}` }],
  [
    'a worktree whose name begins with a space',
    { '.git': 'gitdir:  w\n', ' w/config': '[diff]\nexternal=x\n' },
  ],
  ['a repository that cannot be found', { '.git/commondir': `../x${'\n'.repeat(2_000_000)}` }],
];

function repository(options: Parameters<typeof probe>[0], files: Readonly<Record<string, string>>): Probe {
  const made = probe(options);
  if (!('.git' in files)) made.write('.git/HEAD', 'ref: refs/heads/main\n');
  for (const [path, text] of Object.entries(files)) made.write(path, text);
  made.write(join(made.outside, 'w', 'commondir'), '../main\n');
  made.write(join(made.outside, 'main', 'config'), '[diff]\n  external = x\n');
  return made;
}

describe.each(RUNS)('C2: %s that git runs', (_what, files) => {
  it.each(['git status', 'git diff', 'cd src && git status', 'git -C . log'])('%s', async (command) => {
    expect((await repository({ mode: 'read-only' }, files).bash(command)).behaviour).toBe('deny');
    const rules = [...ALLOWED, 'Bash(cd:*)', 'Bash(git -C . log:*)'];
    expect((await repository({ allow: rules }, files).bash(command)).behaviour).toBe('ask');
    // Whoever allows exactly this, or everything, has allowed it.
    expect((await repository({ allow: [`Bash(${command})`] }, files).bash(command)).behaviour).toBe('allow');
    expect((await repository({ mode: 'allow' }, files).bash(command)).behaviour).toBe('allow');
    expect((await repository({ allow: ['Bash'] }, files).bash(command)).behaviour).toBe('allow');
  });
});

describe('C2: a link into such a repository', () => {
  it('is followed', async () => {
    const here = repository({ mode: 'read-only' }, {});
    here.write('other/.git/config', '[diff]\n  external = x\n');
    here.write('other/deep/a', '');
    symlinkSync(join(here.root, 'other', 'deep'), join(here.root, 'link'));
    for (const command of [
      ...['cd link && git status', 'git -C link status', 'git -C link/.. status'],
      ...['git -C . -C other status', 'git -C other -C deep status', 'git -C other log -C .'],
      ...['git --git-dir=other/.git status', 'GIT_DIR=other/.git git status', 'env -C other git status'],
    ]) {
      expect((await here.bash(command)).behaviour, command).toBe('deny');
    }
    expect((await here.bash('git status')).behaviour).toBe('allow');
  });
});

describe('C2: an ordinary repository', () => {
  it.each([
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = true\n[remote "origin"]\n\turl = x\n',
    `[${' '.repeat(200_000)}\n[a "${' '.repeat(40_000)}\n`,
    '[branch "main"]\n\tremote = origin\n[user]\n\tname = external\n# external = x\n',
  ])('is read as before', async (config) => {
    const here = repository({ mode: 'read-only' }, { '.git/config': config });
    expect((await here.bash('git status')).behaviour).toBe('allow');
    expect((await repository({ allow: ALLOWED }, { '.git/config': config }).bash('git diff')).behaviour).toBe(
      'allow',
    );
  });
});

describe('C2: the real git', () => {
  it('runs nothing of it, in mode read-only without a sandbox', async () => {
    const agent = await openAgent({ sandbox: 'off', permissions: { mode: 'read-only' } });
    const mark = join(agent.root, 'MARK');
    const git = (...args: string[]) => execFileSync('git', args, { cwd: agent.root, stdio: 'pipe' });
    git('init', '-q');
    await mkdir(join(agent.root, 'src'));
    await writeFile(join(agent.root, 'src', 'a'), 'one\n');
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one');
    await writeFile(join(agent.root, 'src', 'a'), 'two\n');
    const look = () => agent.run(['Bash', { command: 'git status' }], ['Bash', { command: 'git diff' }]);
    expect((await look()).map(({ isError }) => isError)).toEqual([false, false]);
    git('config', 'diff.external', `touch ${mark}; false`);
    git('config', 'core.fsmonitor', `touch ${mark}; false`);
    const outcomes = await look();
    expect(outcomes.map(({ isError }) => isError)).toEqual([true, true]);
    expect(outcomes[0]?.text).toContain('.git/config');
    expect(existsSync(mark)).toBe(false);
  });
});
