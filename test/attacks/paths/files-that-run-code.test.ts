/** A file is written that somebody else runs, also where it does not exist yet. */
import { describe, expect, it } from 'vitest';
import { CODE_FILES, codeFile } from '../../../src/permissions/protected-files.js';
import { probe } from '../policy-probe.js';

const IN_WORKSPACE = [
  '.git/hooks/pre-commit',
  '.git/config',
  '.git/info/attributes',
  '.git/modules/x/config',
  '.git',
  'sub/.git/config',
  '.mcp.json',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.vscode/tasks.json',
  '.vscode/settings.json',
  '.npmrc',
  '.yarnrc.yml',
  '.yarn/plugins/x.cjs',
  '.bashrc',
  '.envrc',
  '.husky/pre-push',
  '.idea/workspace.xml',
  '.devcontainer/devcontainer.json',
  '.toolgate-permissions.yaml',
  '.GIT/hooks/x',
  '.Mcp.Json',
  '.cargo/config.toml',
  'packages/a/.npmrc',
  '.gitmodules',
  '.ssh/authorized_keys',
];
const AT_HOME = [
  '.bashrc',
  '.zshrc',
  '.profile',
  '.gitconfig',
  '.ssh/authorized_keys',
  '.config/fish/config.fish',
  '.config/autostart/x.desktop',
  '.local/bin/ls',
  '.npmrc',
  '.netrc',
];

describe('files that run code', () => {
  const open = probe({
    mode: 'allow',
    allow: [
      'Edit',
      'Edit(./**)',
      'Edit(~/**)',
      'Edit(.git/**)',
      'Write',
      'Bash(cp:*)',
      'Bash(touch:*)',
      'Bash(tee .npmrc:*)',
    ],
  });
  it.each(IN_WORKSPACE)('are asked about whatever allows them: %s', async (path) => {
    for (const tool of ['Edit', 'Write', 'MultiEdit', 'NotebookEdit']) {
      const decision = await open.judge({ tool, effects: [{ kind: 'edit', path: `${open.root}/${path}` }] });
      expect(decision.behaviour, tool).toBe('ask');
      expect(decision.because.kind).toBe('protected');
    }
    for (const command of [
      `touch ${path}`,
      `cp x ${path}`,
      `echo x > ${path}`,
      `mv x ${path}`,
      `rm ${path}`,
      `tee ${path}`,
    ]) {
      expect((await open.bash(command)).behaviour, command).toBe('ask');
    }
  });

  it.each([
    'cp -t.git/hooks e/hook',
    'cp -rt.git/hooks e/hook',
    'cp -t .git/hooks e/hook',
    'cp --target-directory=.git/hooks e/hook',
    'cp --targ=.git/hooks e/hook',
    'cp --targ .git/hooks e/hook',
    'mv -t.git/hooks e/hook',
    'install --target=.git/hooks e/hook',
    'ln -st.git/hooks e/hook',
    'cp e/.npmrc .',
    'cp -r e/.git .',
    'mv e/.npmrc .',
    'sort -o .npmrc x',
    'sort --outp=.npmrc x',
    'sed -i s/a/b/ .npmrc',
    'git diff --output=.npmrc',
  ])('also where the folder is in a flag, or the name comes from elsewhere: %s', async (command) => {
    expect((await open.bash(command)).behaviour).toBe('ask');
    const prefix = `Bash(${command.split(' ')[0]}:*)`;
    expect((await probe({ allow: [prefix, 'Edit', 'Read'] }).bash(command)).behaviour).toBe('ask');
  });

  it.each(AT_HOME)('also at home: %s', async (path) => {
    expect((await open.edit(`${open.home}/${path}`)).behaviour).toBe('ask');
    expect((await open.bash(`echo x >> ~/${path}`)).behaviour).toBe('ask');
    expect((await open.bash(`echo x >> $HOME/${path}`)).behaviour).toBe('ask');
  });

  it('also in the operating system', async () => {
    for (const path of ['/etc/cron.d/x', '/usr/local/bin/x', '/etc/profile.d/x.sh']) {
      expect((await open.edit(path)).behaviour, path).toBe('ask');
    }
  });

  it('are allowed by a rule with exactly their path', async () => {
    const exact = probe({ allow: ['Edit', 'Edit(./.npmrc)', 'Edit(~/.bashrc)'] });
    expect((await exact.edit('.npmrc')).behaviour).toBe('allow');
    expect((await exact.edit('sub/.npmrc')).behaviour).toBe('ask');
    expect((await exact.edit(`${exact.home}/.bashrc`)).behaviour).toBe('allow');
  });

  it('can be read, and are not mistaken for others', async () => {
    expect((await open.read('.git/config')).behaviour).toBe('allow');
    for (const path of [
      'src/git/hooks.ts',
      '.gitignore',
      '.github/workflows/ci.yml',
      'docs/.claude.md',
      'my.bashrc.txt',
      'etc/passwd',
      'usr/x',
      '.gitattributes',
    ]) {
      expect((await open.edit(path)).behaviour, path).toBe('allow');
    }
  });

  it('are not confused by the folders above the workspace', () => {
    expect(codeFile('src/a.ts')).toBeUndefined();
    expect(codeFile('/home/u/.claude/worktrees/a/src/a.ts')).toBeDefined();
  });

  it('have a sentence each', () => {
    for (const { names, what } of CODE_FILES) {
      for (const name of names.split(' ')) {
        expect(codeFile(name.endsWith('/') ? `${name}x` : name), name).toBe(what);
      }
    }
  });
});
