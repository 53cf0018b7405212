/** A repository whose own configuration has git run programs, in a folder where git may only read. */
import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Attempt, openAgent } from '../agent-probe.js';
import { type Probe, probe } from '../policy-probe.js';

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
  ['a partial clone', { '.git/config': '[remote "origin"]\n\turl = ../x\n\tpromisor = true\n' }],
  ['the filter of one', { '.git/config': '[remote "o"]\n\tpartialCloneFilter = blob:none\n' }],
  ['an old partial clone', { '.git/config': '[extensions]\n\tpartialClone = origin\n' }],
  ['a command for the refs of others', { '.git/config': '[core]\n\talternateRefsCommand = ./x\n' }],
  ['diffs inside of submodules', { '.git/config': '[diff]\n\tsubmodule = diff\n' }],
  ['a working folder elsewhere', { '.git/config': '[core]\n\tworktree = ../../outside\n' }],
  ['one whose name is written oddly', { '.git/config': '[core]\n\tworktree = ..\\\n/../outside\n' }],
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

describe.each(RUNS)('%s that git runs', (_what, files) => {
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

describe('a link into such a repository', () => {
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

describe('an index that cannot be read', () => {
  it('may name submodules', async () => {
    const here = repository({ mode: 'read-only' }, {});
    const head = Buffer.from('DIRC\0\0\0\x02\0\0\0\x01');
    writeFileSync(join(here.root, '.git', 'index'), Buffer.concat([head, Buffer.from([0, 0, 0xe0, 0])]));
    expect((await here.bash('git status')).behaviour).toBe('deny');
    writeFileSync(join(here.root, '.git', 'index'), head);
    expect((await here.bash('git status')).behaviour).toBe('allow');
  });
});

describe('an ordinary repository', () => {
  it.each([
    '[core]\n\tworktree = "../" # here\n\tsshCommand = ssh -i ~/.ssh/work\n[remote "o"]\n\tpromisor = false\n',
    '[credential]\n\thelper = store\n[http]\n\tsslVerify = false\n[diff]\n\tsubmodule = log\n',
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

/** Only of what reaches a remote, commits, merges or packs: `git diff` never comes to them. */
const WORKS: readonly [what: string, config: string][] = [
  ['a command for ssh', '[core]\n\tsshCommand = ./x\n'],
  ['a program at the other end', '[remote "origin"]\n\tuploadpack = ./x\n'],
  ['one that takes what is sent', '[remote "origin"]\n\treceivePack = ./x\n'],
  ['a helper of the remote', '[remote "origin"]\n\tvcs = x\n'],
  ['a helper for credentials', '[credential "https://example.com"]\n\thelper = !./x\n'],
  ['a protocol that runs commands', '[protocol "ext"]\n\tallow = always\n'],
  ['a proxy command', '[core]\n\tgitProxy = ./x\n'],
  ['a proxy', '[remote "origin"]\n\tproxy = http://x\n'],
  ['an unchecked certificate', '[http]\n\tsslVerify = \\\n false\n'],
  ['a file of cookies to write', '[http]\n\tsaveCookies\n'],
  ['a driver of a merge', '[merge "x"]\n\tdriver = ./x\n'],
  ['a filter of what is shown', '[interactive]\n\tdiffFilter = ./x\n'],
  ['a trailer', '[trailer "x"]\n\tcmd = ./x\n'],
  ['a hook of the garbage collection', '[gc]\n\trecentObjectsHook = ./x\n'],
  ['a hook of packs', '[uploadpack]\n\tpackObjectsHook = ./x\n'],
  ['a command that signs', '[gpg "ssh"]\n\tdefaultKeyCommand = ./x\n'],
  ['a way to update submodules', '[submodule "x"]\n\tupdate = !./x\n'],
  ['templates with hooks', '[init]\n\ttemplateDir = x\n'],
  ['a command of its own', '[alias]\n\tfetch = x\n'],
];

describe.each(WORKS)('%s that git runs for a remote', (_what, config) => {
  it('is asked about where git does more than read', async () => {
    const rules = ['Bash(git fetch:*)', 'Bash(git diff:*)'];
    const here = repository({ allow: rules }, { '.git/config': config });
    expect((await here.bash('git fetch origin')).behaviour).toBe('ask');
    expect((await here.bash('git diff && git fetch origin')).behaviour).toBe('ask');
    expect((await here.bash('git diff')).behaviour).toBe('allow');
    const exact = repository({ allow: ['Bash(git fetch origin)'] }, { '.git/config': config });
    expect((await exact.bash('git fetch origin')).behaviour).toBe('allow');
  });
});

describe('a command that the repository defines', () => {
  it('is asked about, and a rule for it holds elsewhere', async () => {
    const options = { allow: ['Bash(git st:*)'] };
    const alias = repository(options, { '.git/config': '[alias]\n\tst = -c core.fsmonitor=./x status\n' });
    expect((await alias.bash('git st')).behaviour).toBe('ask');
    expect((await repository(options, {}).bash('git st')).behaviour).toBe('allow');
  });
});

describe('the real git', () => {
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

  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
  const gitIn =
    (cwd: string) =>
    (...args: string[]): string =>
      execFileSync('git', [...identity, ...args], { cwd, stdio: 'pipe' }).toString();

  it.each([
    ['a program at the other end', (mark: string) => ['remote.origin.uploadpack', `touch ${mark};:`]],
    ['a command for ssh', (mark: string) => ['core.sshCommand', `touch ${mark};:`]],
    ['an address that is a command', (mark: string) => ['protocol.ext.allow', 'always', mark]],
  ])('does not fetch what a partial clone lacks, through %s', async (what, setting) => {
    const agent = await openAgent({
      sandbox: 'off',
      permissions: { mode: 'read-only', allow: ['Bash(git diff:*)'] },
    });
    const mark = join(agent.root, 'MARK');
    const git = gitIn(agent.root);
    git('init', '-q');
    await writeFile(join(agent.root, 'a'), 'one\n');
    git('add', '.');
    git('commit', '-qm', 'one');
    const url = what.startsWith('an address')
      ? `ext::sh -c touch% ${mark}`
      : what.startsWith('a command')
        ? 'ssh://host.invalid/x'
        : agent.outside;
    git('remote', 'add', 'origin', url);
    const [key = '', value = ''] = setting(mark);
    git('config', key, value);
    git('config', 'extensions.partialClone', 'origin');
    git('config', 'core.repositoryFormatVersion', '1');
    const blob = git('rev-parse', 'HEAD:a').trim();
    await rm(join(agent.root, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
    await writeFile(join(agent.root, 'a'), 'two, and longer\n');
    const commands = ['git diff', 'git status -v', 'git log -p', 'git show HEAD:a'];
    const outcomes = await agent.run(...commands.map((command): Attempt => ['Bash', { command }]));
    expect(outcomes.map(({ isError }) => isError)).toEqual(commands.map(() => true));
    expect(outcomes[0]?.text).toMatch(/partialClone/i);
    expect(existsSync(mark)).toBe(false);
    // With nobody to stop it, git does run it: otherwise this would show nothing.
    expect(() => git('diff')).toThrow();
    expect(existsSync(mark)).toBe(true);
  });

  it.each([
    ['2', []],
    ['4', []],
    ['2', ['--split-index']],
  ])(
    'looks into no repository in a folder of the work tree, with index version %s %j',
    async (version, more) => {
      const here = probe({ mode: 'read-only' });
      const inner = join(here.root, 'deep', 'inner');
      const mark = join(here.outside, 'MARK');
      await mkdir(inner, { recursive: true });
      await writeFile(join(inner, 'b'), 'one\n');
      const git = gitIn(here.root);
      const inside = gitIn(inner);
      inside('init', '-q');
      inside('add', '.');
      inside('commit', '-qm', 'one');
      git('init', '-q');
      for (let at = 0; at < 300; at += 1) here.write(`deep/in${at}/file`, '');
      git('add', '.');
      git('commit', '-qm', 'one');
      git('update-index', '--index-version', version, ...more);
      if (more.length > 0) here.write('deep/inner-file', '');
      if (more.length > 0) git('add', '.');
      expect(git('ls-files', '--stage')).toContain('160000');
      expect((await here.bash('git status')).behaviour).toBe('allow');
      inside('config', 'filter.x.clean', `touch ${mark}; cat`);
      await writeFile(join(inner, '.gitattributes'), '* filter=x\n');
      await writeFile(join(inner, 'b'), 'two\n');
      git('status');
      expect(existsSync(mark)).toBe(true);
      const decision = await here.bash('git status');
      expect(decision.behaviour).toBe('deny');
      expect(decision.message).toContain('deep/inner/.git/config');
    },
  );

  it('fetches and clones what a person allowed', async () => {
    const agent = await openAgent({ sandbox: 'off', permissions: { mode: 'allow' } });
    const git = gitIn(agent.root);
    await mkdir(join(agent.root, 'source'));
    const source = gitIn(join(agent.root, 'source'));
    source('init', '-q', '-b', 'main');
    source('config', 'uploadpack.allowFilter', 'true');
    await writeFile(join(agent.root, 'source', 'a'), 'one\n');
    source('add', '.');
    source('commit', '-qm', 'one');
    const commands = [
      'git clone -q source whole && git -C whole fetch',
      `git clone -q --filter=blob:none --no-checkout "file://$PWD/source" part && git -C part checkout -q main`,
      'git clone -q "ext::git-upload-pack source" through',
      'git -c protocol.ext.allow=always clone -q "ext::git-upload-pack source" given',
    ];
    const outcomes = await agent.run(...commands.map((command): Attempt => ['Bash', { command }]));
    expect(outcomes.map(({ isError }) => isError)).toEqual([false, false, true, false]);
    expect(outcomes[2]?.text).toContain("transport 'ext' not allowed");
    expect(git('-C', 'part', 'config', 'remote.origin.promisor').trim()).toBe('true');
    expect(existsSync(join(agent.root, 'part', 'a'))).toBe(true);
  });

  it('runs no pager and no editor of a repository, because the environment names others', async () => {
    const agent = await openAgent({ sandbox: 'off', permissions: { mode: 'allow' } });
    const git = gitIn(agent.root);
    const mark = join(agent.root, 'MARK');
    git('init', '-q');
    git('commit', '-qm', 'one', '--allow-empty');
    const touch = `touch ${mark};:`;
    for (const key of ['core.pager', 'pager.log', 'core.editor', 'sequence.editor', 'core.askPass'])
      git('config', key, touch);
    const commands = [
      'git --paginate log',
      'git -c user.name=a -c user.email=a@b commit --allow-empty -q',
      'git rebase -i HEAD',
    ];
    await agent.run(...commands.map((command): Attempt => ['Bash', { command }]));
    expect(existsSync(mark)).toBe(false);
  });
});
