/** A command sees its folder as it is, makes a repository of it, and plants nothing with it. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isPlainConfig } from '../../../src/sandbox/harmless-git.js';
import { connect, KEYS, textOf } from '../../e2e/mcp-virtual-harness.js';
import { tempFolder } from '../../support/cleanup.js';
import { startGatewayProcess } from '../../support/gateway.js';
import { until } from '../../support/until.js';
import { openAgent } from '../agent-probe.js';

const WHO = 'GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b';
const git = async (cwd: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)('git', args, { cwd })).stdout;

describe('a folder without a repository', () => {
  it('is shown as it is, and git init, add and commit leave a usable repository', async () => {
    const agent = await openAgent({
      sandbox: 'required',
      files: { 'a.txt': 'one\n', 'set.sh': 'git config core.fsmonitor ./evil' },
    });
    const run = async (command: string): Promise<string> =>
      (await agent.run(['Bash', { command }]))[0]?.text ?? '';
    expect((await run('ls -A')).trim().split('\n')).toEqual(['a.txt', 'set.sh']);
    const made = await run(
      `git init -q -b main && git add . && ${WHO} git commit -qm one && git log --oneline`,
    );
    expect(made).toMatch(/^[0-9a-f]+ one\s*$/);
    expect(await git(agent.root, 'status', '--short')).toBe('');
    expect((await readdir(agent.root)).sort()).toEqual(['.git', 'a.txt', 'set.sh']);
    // The next command finds it, and its configuration is held as that of any repository.
    expect(await run(`echo two >> a.txt && ${WHO} git commit -qam two && git log --oneline | wc -l`)).toMatch(
      /^2/,
    );
    expect(await run('sh set.sh')).toMatch(/config/);
    expect(readFileSync(join(agent.root, '.git/config'), 'utf8')).not.toContain('fsmonitor');
  });

  it.each([
    ['a hook', 'echo evil > .git/hooks/pre-commit', '.git/hooks'],
    ['a hook behind a link', 'rm -rf .git/hooks; ln -s ../planted .git/hooks', '.git/hooks'],
    ['a sample that is a link', 'rm .git/hooks/*; ln -s ../../planted/x .git/hooks/a.sample', '.git/hooks'],
    ['a setting', 'git config core.fsmonitor ./planted/x', '.git/config'],
    ['another folder of hooks', 'git config core.hooksPath planted', '.git/config'],
    ['an include', 'git config include.path ../planted/x', '.git/config'],
    ['an alias', 'git config alias.status "!./planted/x"', '.git/config'],
    ['a filter', 'git config filter.x.clean ./planted/x', '.git/config'],
    ['a remote that is a program', 'git config remote.origin.url "ext::./planted/x"', '.git/config'],
    [
      'a configuration that is a link',
      'mv .git/config planted/x; ln -s ../planted/x .git/config',
      '.git/config',
    ],
    [
      'a configuration with a second name',
      'mv .git/config planted/x; ln planted/x .git/config',
      '.git/config',
    ],
    ['a sample with a second name', 'rm .git/hooks/*; ln planted/x .git/hooks/a.sample', '.git/hooks'],
    ['a remote that is a folder', 'git remote add origin ./planted', '.git/config'],
    [
      'a file that names a repository further inside',
      'git init -q --bare in/g; git -C in/g config core.fsmonitor ./x; echo "gitdir: g" > in/.git',
      'in/.git',
    ],
    [
      'a worktree with another common folder',
      'mkdir -p w .git/worktrees/w; echo ../../../planted > .git/worktrees/w/commondir; echo "gitdir: ../.git/worktrees/w" > w/.git',
      'w/.git',
    ],
    ['another common folder', 'echo ../planted > .git/commondir', '.git/commondir'],
    ['a file in place of the folder', 'mv .git planted/git; echo "gitdir: planted/git" > .git', '.git'],
    ['a link in place of the folder', 'mv .git planted/git; ln -s planted/git .git', '.git'],
    [
      'a repository further inside',
      'git init -q in/side; echo evil > in/side/.git/hooks/pre-commit',
      'in/side/.git/hooks',
    ],
    ['tasks of an editor', 'mkdir .vscode; echo {} > .vscode/tasks.json', '.vscode'],
    ['settings of an agent', 'mkdir .claude; echo {} > .claude/settings.json', '.claude'],
    ['settings of the gateway', 'echo {} > toolgate.yaml', 'toolgate.yaml'],
    ['a profile', 'echo evil > .envrc', '.envrc'],
  ])('keeps no %s that came with it, and the model is told', async (_what, plant, path) => {
    const script = `git init -q; mkdir planted; echo evil > planted/x; ${plant}; echo done`;
    const agent = await openAgent({ sandbox: 'required', files: { 'plant.sh': script } });
    const [outcome] = await agent.run(['Bash', { command: 'sh plant.sh' }]);
    expect(outcome?.text).toContain('done');
    expect(existsSync(join(agent.root, path)), path).toBe(false);
    expect(outcome?.text).toContain(`${path} is now ${join(agent.root, path)}.set-aside`);
  });

  it('is looked at while a command goes on in the background', async () => {
    const script = 'git init -q; echo evil > .git/hooks/pre-commit; echo {} > .mcp.json; sleep 600';
    const wait = 'while [ ! -e .mcp.json.set-aside ]; do sleep 0.1; done; ls .git';
    const agent = await openAgent({
      sandbox: 'required',
      files: { 'plant.sh': script, 'wait.sh': wait },
    });
    const [, seen, said] = await agent.run(
      ['Bash', { command: 'sh plant.sh', run_in_background: true }],
      ['Bash', { command: 'sh wait.sh' }],
      ['BashOutput', { bash_id: 'bash_1' }],
    );
    expect(seen?.text).toContain('hooks.set-aside\n');
    expect(seen?.text).not.toContain('hooks\n');
    expect(said?.text).toContain('.git/hooks is now');
  });
});

describe('a gateway that is killed while a command runs', () => {
  it('leaves no stand-ins, and the next one sets aside what the command had planted', async () => {
    const work = await realpath((await tempFolder('work')).path);
    const config = {
      server: { keys: KEYS },
      store: 'sqlite:./gateway.db',
      models: { here: { engine: 'native', upstream: 'demo', cwd: work } },
      permissions: { mode: 'allow' },
      sandbox: 'required',
    };
    const first = await startGatewayProcess({ config });
    const { client } = await connect(first);
    const script =
      'git init -q; echo evil > .git/hooks/pre-commit; echo x > .npmrc; git init -q in/side; echo evil > in/side/.git/hooks/post-checkout; touch ready; sleep 600';
    await writeFile(join(work, 'plant.sh'), script);
    const command = 'sh plant.sh';
    const running = client.callTool({ name: 'Bash', arguments: { command } }).catch(() => 'cut');
    await until(async () => existsSync(join(work, 'ready')));
    expect((await readdir(work)).sort()).toEqual(['.git', '.npmrc', 'in', 'plant.sh', 'ready']);
    await first.kill();
    await client.close();
    expect(await running).toBe('cut');
    const second = await startGatewayProcess({ config, folder: first.folder });
    expect((await readdir(work)).sort()).toEqual(['.git', '.npmrc.set-aside', 'in', 'plant.sh', 'ready']);
    expect(existsSync(join(work, '.git/hooks'))).toBe(false);
    expect(existsSync(join(work, 'in/side/.git/hooks'))).toBe(false);
    const again = await connect(second);
    expect(
      textOf(await again.client.callTool({ name: 'Bash', arguments: { command: 'git status --short' } })),
    ).toContain('ready');
    await again.client.close();
    await second.close();
  });
});

describe('a configuration of a new repository', () => {
  it.each([
    '',
    '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n',
    '# note\n[user]\n\tname = "A B"\n\temail = a@b\n',
    '[remote "origin"]\n\turl = git@github.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
    '[remote "o"]\n\turl = https://example.com/a.git\n[remote]\n\tpushDefault = o\n',
    '[remote "o"]\n\turl = ssh://git@example.com:22/a\n',
    '[remote "o"]\n\turl = example.com:a/b\n',
    '[submodule "lib"]\n\tactive = true\n\turl = https://example.com/lib.git\n',
    '[remote "o"]\n\turl = example.com:a/b\n\tgh-resolved = base\n[branch "main"]\n\tvscode-merge-base = o/main\n[gc]\n\tauto = 0\n',
    '[branch "topic"]\n\tremote = .\n\tmerge = refs/heads/main\n',
  ])('may be %j', (text) => {
    expect(isPlainConfig(text)).toBe(true);
  });

  it.each([
    'evil',
    '[core] fsmonitor = x\n',
    '[core]\n\tbare = false\\\n\tfsmonitor = x\n',
    '[core]\r\tfsmonitor = x\n',
    '[CORE]\n\tHooksPath = x\n',
    '[core "a"]\n\tfilemode = true\n',
    '[include]\n\tpath = x\n',
    '[includeIf "gitdir:/"]\n\tpath = x\n',
    '[remote "o"]\n\turl = ext::sh -c x\n',
    '[remote "o"]\n\turl = --upload-pack=x\n',
    '[remote "o"]\n\tuploadpack = x\n',
    '[submodule "lib"]\n\turl = ./build\n',
    '[submodule "lib"]\n\turl = ext::x\n',
    '[submodule "lib"]\n\tupdate = !x\n',
    '[submodule "lib"]\n\turl = https://example.com\n[branch "main"]\n\tremote = lib\n',
    '[remote "o"]\n\turl = ./build\n',
    '[remote "o"]\n\turl = ../build\n',
    '[remote "o"]\n\turl = /build\n',
    '[remote "o"]\n\turl = build\n',
    '[remote "o"]\n\turl = build/a:b\n',
    '[remote "o"]\n\turl = c:/build\n',
    '[remote "o"]\n\turl = file:///build\n',
    '[remote "o"]\n\turl = ext::x\n',
    '[remote "o"]\n\turl = a@ext::x\n',
    '[remote "o"]\n\turl = ext:"":x\n',
    '[remote "o"]\n\turl = https:"//x"\n',
    '[remote "o;x"]\n\turl = https://example.com\n[branch "main"]\n\tremote = o;x\n',
    '[branch "main"]\n\tremote = ./build\n',
    '[branch "main"]\n\tremote = build\n',
    '[remote "build"]\n\tfetch = +refs/heads/*:refs/remotes/o/*\n[branch "main"]\n\tremote = build\n',
    '[remote]\n\tpushdefault = ./build\n',
    '\ufeff[core]\n\tfsmonitor = x\n',
    '[core]\n\tworktree = /\n',
  ])('may not be %j', (text) => {
    expect(isPlainConfig(text)).toBe(false);
  });
});
