import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MountPlan, planMounts } from './mounts.js';

let base: string;
let root: string;
let home: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-mounts-')));
  root = join(base, 'work');
  home = join(base, 'home');
  await mkdir(root);
  await mkdir(home);
});
afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

const kinds = ({ mounts }: MountPlan): Record<string, string> =>
  Object.fromEntries(
    mounts
      .filter(({ path }) => path.startsWith(base))
      .map(({ path, kind }) => [path.slice(base.length + 1), kind]),
  );
const plan = (hidden: readonly string[] = [], writable = [root]): Record<string, string> =>
  kinds(planMounts({ writable, hidden }, home));

describe('planMounts', () => {
  it('keeps what runs code later from being written, and its folder from being replaced', async () => {
    await mkdir(join(root, '.git', 'hooks'), { recursive: true });
    await writeFile(join(root, '.git', 'config'), '');
    await writeFile(join(root, '.mcp.json'), '{}');
    expect(plan()).toMatchObject({
      work: 'writable',
      'work/.git': 'writable',
      'work/.git/hooks': 'read-only',
      'work/.git/config': 'read-only',
      'work/.mcp.json': 'read-only',
    });
  });

  it('puts nothing where there is nothing, and looks at what is made of a repository', async () => {
    for (const made of [false, true]) {
      if (made) await mkdir(join(root, '.git'));
      const { mounts, watched } = planMounts({ writable: [root], hidden: [] }, home);
      expect(mounts.filter(({ kind }) => kind === 'blocked')).toEqual([]);
      for (const [path, look] of [
        ['.git', 'repository'],
        ['.git/hooks', 'hooks'],
        ['.git/config', 'config'],
      ]) {
        expect(watched).toContainEqual({ root, path: join(root, path ?? ''), look });
      }
    }
  });

  it('watches what must not be made and cannot have a stand-in', async () => {
    await mkdir(join(root, '.git'));
    const { watched } = planMounts({ writable: [root], hidden: [] }, home);
    for (const path of ['.git/commondir', '.npmrc', '.config/git', '.toolgate-permissions.yaml']) {
      expect(watched).toContainEqual({ root, path: join(root, path) });
    }
  });

  it('watches links, and holds what they lead to', async () => {
    await mkdir(join(root, 'conf'));
    await writeFile(join(root, 'conf', 'mcp.json'), '{}');
    await symlink('conf/mcp.json', join(root, '.mcp.json'));
    await symlink('/nowhere/husky', join(root, '.husky'));
    const { watched, mounts } = planMounts({ writable: [root], hidden: [] }, home);
    expect(watched).toContainEqual({ root, path: join(root, '.mcp.json'), link: 'conf/mcp.json' });
    expect(watched).toContainEqual({ root, path: join(root, '.husky'), link: '/nowhere/husky' });
    expect(mounts).toContainEqual({ path: join(root, 'conf'), kind: 'writable' });
    expect(mounts).toContainEqual({ path: join(root, 'conf', 'mcp.json'), kind: 'read-only' });
  });

  it('opens nothing in what is held, and blocks nothing there', async () => {
    await mkdir(join(root, '.claude', 'worktrees', 'a', '.git', 'hooks'), { recursive: true });
    await mkdir(join(root, '.toolgate'));
    await writeFile(join(root, '.toolgate', 'toolgate.db'), '');
    const found = plan([
      join(root, '.toolgate', 'toolgate.db'),
      join(root, '.toolgate', 'toolgate.db-journal'),
    ]);
    const below = Object.entries(found).filter(([path]) => /^work\/\.(claude|toolgate)/.test(path));
    expect(below).toEqual([
      ['work/.claude', 'read-only'],
      ['work/.toolgate', 'read-only'],
      ['work/.toolgate/toolgate.db', 'hidden-file'],
    ]);
  });

  it('holds what exists in a repository further inside, and lets a new one be set up', async () => {
    await mkdir(join(root, 'app', '.git'), { recursive: true });
    await writeFile(join(root, 'app', '.npmrc'), '');
    expect(plan()['work/app/.npmrc']).toBe('read-only');
    const { watched } = planMounts({ writable: [root], hidden: [] }, home);
    expect(watched.map(({ path }) => path)).not.toContain(join(root, 'app', '.yarnrc'));
  });

  it('takes the stand-ins of other commands for missing', async () => {
    await mkdir(join(home, '.profile'));
    const found = kinds(
      planMounts({ writable: [home], hidden: [] }, home, new Set([join(home, '.profile')])),
    );
    expect(found['home/.profile']).toBe('blocked');
  });

  it('finds repositories further inside, those of submodules, and files that name one', async () => {
    await mkdir(join(root, 'a', 'b', '.git', 'hooks'), { recursive: true });
    await mkdir(join(root, '.git', 'modules', 'sub', 'hooks'), { recursive: true });
    await mkdir(join(root, 'sub'));
    await writeFile(join(root, 'sub', '.git'), 'gitdir: ../.git/modules/sub');
    await mkdir(join(root, '.git', 'worktrees', 'w'), { recursive: true });
    await writeFile(join(root, '.git', 'worktrees', 'w', 'commondir'), '../..');
    const { watched } = planMounts({ writable: [root], hidden: [] }, home);
    expect(watched).toContainEqual({ root, path: join(root, '.git/modules/sub/commondir') });
    expect(plan()).toMatchObject({
      'work/.git/worktrees/w/commondir': 'read-only',
      'work/a': 'writable',
      'work/a/b': 'writable',
      'work/a/b/.git/hooks': 'read-only',
      'work/.git/modules/sub/hooks': 'read-only',
      'work/sub/.git': 'read-only',
    });
  });

  it('hides files and folders, wherever they are', async () => {
    await mkdir(join(root, '.toolgate'));
    await writeFile(join(root, 'toolgate.yaml'), '');
    await mkdir(join(home, '.ssh'));
    await writeFile(join(home, '.netrc'), '');
    expect(plan([join(root, '.toolgate'), join(root, 'toolgate.yaml')])).toMatchObject({
      'work/.toolgate': 'hidden-folder',
      'work/toolgate.yaml': 'hidden-file',
      'home/.ssh': 'hidden-folder',
      'home/.netrc': 'hidden-file',
    });
  });

  it('hides what a link leads to', async () => {
    await mkdir(join(base, 'real'));
    await symlink(join(base, 'real'), join(home, '.ssh'));
    expect(plan()).toMatchObject({ real: 'hidden-folder' });
  });

  it('blocks a hidden path that is missing, where it could be made', () => {
    const found = plan([join(root, 'secret.yaml'), join(base, 'elsewhere')]);
    expect(found['work/secret.yaml']).toBe('blocked');
    expect(found['elsewhere']).toBeUndefined();
  });

  it('protects the profiles of a home that is worked in', async () => {
    await writeFile(join(home, '.bashrc'), '');
    expect(plan([], [home])).toMatchObject({ 'home/.bashrc': 'read-only', 'home/.profile': 'blocked' });
    expect(plan()['home/.bashrc']).toBeUndefined();
  });

  it('puts outer paths first, so that the finer rule holds', async () => {
    const inner = join(base, 'state', 'scratch');
    await mkdir(inner, { recursive: true });
    const { mounts } = planMounts({ writable: [inner, root], hidden: [join(base, 'state')] }, home);
    const paths = mounts.map(({ path }) => path);
    expect(paths.indexOf(join(base, 'state'))).toBeLessThan(paths.indexOf(inner));
  });

  it('leaves out folders that are not there', () => {
    expect(plan([], [root, join(base, 'none')])['none']).toBeUndefined();
  });
});
