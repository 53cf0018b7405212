/** A link in the workspace leads to a file outside of it, or to one that is denied. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Probe, probe } from '../policy-probe.js';

function linked(rules: Parameters<typeof probe>[0]): Probe {
  const workspace = probe(rules);
  const { root, outside } = workspace;
  workspace.write('.env');
  workspace.write('src/a');
  mkdirSync(join(outside, 'deep'));
  writeFileSync(join(outside, 'secret'), 'x');
  symlinkSync(join(outside, 'secret'), join(root, 'leaf'));
  symlinkSync(outside, join(root, 'folder'));
  symlinkSync('folder', join(root, 'twice'));
  symlinkSync('../../outside/deep', join(root, 'src/relative'));
  symlinkSync('.env', join(root, 'plain.txt'));
  symlinkSync(join(outside, 'not-yet'), join(root, 'dangling'));
  symlinkSync('.git', join(root, 'innocent'));
  symlinkSync(join(root, '..', 'gateway'), join(root, 'gate'));
  return workspace;
}

describe('links', () => {
  it.each([
    'leaf',
    'folder/secret',
    'twice/secret',
    'folder/deep/new',
    'src/relative/x',
    'dangling',
    'folder',
  ])('to the outside need a rule for where they lead: %s', async (path) => {
    const { read, edit, bash, root } = linked({
      allow: ['Read', 'Edit', 'Bash(cat:*)', 'Bash(touch:*)', 'Read(./folder/**)', 'Edit(./folder/**)'],
    });
    expect((await read(`${root}/${path}`)).behaviour).toBe('ask');
    expect((await edit(`${root}/${path}`)).behaviour).toBe('ask');
    expect((await bash(`cat ${path}`)).behaviour).toBe('ask');
    expect((await bash(`touch ${path}`)).behaviour).toBe('ask');
  });

  it('before `..` count as the kernel has it, not as the text reads', async () => {
    const { bash } = linked({ allow: ['Read', 'Edit', 'Bash(cat:*)', 'Bash(touch:*)', 'Bash(cd:*)'] });
    for (const command of [
      'cat folder/../outside/secret',
      'touch folder/../new',
      'cd folder/../outside && cat x',
    ]) {
      expect((await bash(command)).behaviour, command).toBe('ask');
    }
  });

  it('are denied by what they are called and by where they lead', async () => {
    const { read, bash } = linked({ mode: 'allow', deny: ['Read(./.env)', 'Read(./leaf)'] });
    expect((await read('plain.txt')).behaviour).toBe('deny');
    expect((await bash('cat plain.txt')).behaviour).toBe('deny');
    expect((await bash('python x.py plain.txt')).behaviour).toBe('deny');
    expect((await bash('cat < plain.txt')).behaviour).toBe('deny');
    expect((await read('leaf')).behaviour).toBe('deny');
  });

  it("do not lead to the gateway's own files", async () => {
    const { read, edit, bash } = linked({ mode: 'allow', allow: ['*'] });
    for (const path of ['gate/toolgate.db', 'gate/new', 'gate']) {
      expect((await read(path)).behaviour, path).toBe('deny');
      expect((await edit(path)).behaviour, path).toBe('deny');
      expect((await bash(`cat ${path}`)).behaviour, path).toBe('deny');
    }
  });

  it('do not hide files that run code', async () => {
    const { edit, bash } = linked({ mode: 'allow', allow: ['Edit', 'Bash'] });
    expect((await edit('innocent/hooks/pre-commit')).behaviour).toBe('ask');
    expect((await bash('cp x innocent/hooks/pre-commit')).behaviour).toBe('ask');
  });

  it('in a tree that is searched show only what a rule lets them', () => {
    const { policy, root } = linked({ allow: ['Read'], deny: ['Read(./.env)'], ask: ['Read(./src/a)'] });
    const readable = policy.readable({ root, cwd: root }, 's1', []);
    for (const path of ['leaf', 'folder/secret', 'plain.txt', '.env', 'src/a', 'gate/x', 'toolgate.yaml']) {
      expect(readable(join(root, path)), path).toBe(false);
    }
    expect(readable(join(root, 'src/b'))).toBe(true);
  });
});
