import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settleWatched } from './watched-paths.js';

let base: string;
let root: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-watched-')));
  root = join(base, 'work');
  await mkdir(root);
});
afterEach(() => rm(base, { recursive: true, force: true }));

const at = (path: string): string => join(root, path);
const settle = (path: string, link?: string, standIns: string[] = []) =>
  settleWatched([{ root, path: at(path), ...(link === undefined ? {} : { link }) }], new Set(standIns));

describe('what a command should not have made', () => {
  it('is nothing where nothing was made', async () => {
    expect(await settle('.npmrc')).toEqual([]);
    expect(await settle('.config/git')).toEqual([]);
  });

  it('is kept under a name that is free', async () => {
    await writeFile(at('.npmrc.set-aside'), 'earlier');
    await writeFile(at('.npmrc'), 'now');
    expect(await settle('.npmrc')).toEqual([
      { path: at('.npmrc'), outcome: 'set-aside', keptAs: at('.npmrc.set-aside-2') },
    ]);
    expect(readFileSync(at('.npmrc.set-aside'), 'utf8')).toBe('earlier');
    expect(readFileSync(at('.npmrc.set-aside-2'), 'utf8')).toBe('now');
  });

  it('is set aside however many names are taken', async () => {
    for (const end of ['', '-2', '-3', '-4', '-5']) await mkdir(at(`.husky.set-aside${end}`));
    await mkdir(at('.husky'));
    expect(await settle('.husky')).toMatchObject([{ outcome: 'set-aside' }]);
    expect(existsSync(at('.husky'))).toBe(false);
  });

  it('is a link on the way, where it leads to something, and what it leads to stays as it is', async () => {
    await mkdir(join(base, 'elsewhere', 'git'), { recursive: true });
    await symlink(join(base, 'elsewhere'), at('.config'));
    expect(await settle('.config/fish')).toEqual([]);
    expect(await settle('.config/git')).toMatchObject([{ path: at('.config'), outcome: 'set-aside' }]);
    expect(await readdir(join(base, 'elsewhere'))).toEqual(['git']);
  });

  it('is set aside from a folder that was closed', async () => {
    await mkdir(at('.config/git'), { recursive: true });
    await chmod(at('.config'), 0o555);
    expect(await settle('.config/git')).toMatchObject([{ outcome: 'set-aside' }]);
    expect(existsSync(at('.config/git'))).toBe(false);
  });

  it('is not the stand-in of a command that still runs', async () => {
    await mkdir(at('.bashrc'));
    expect(await settle('.bashrc', undefined, [at('.bashrc')])).toEqual([]);
    expect(existsSync(at('.bashrc'))).toBe(true);
  });
});

describe('what is newer than the time that is given', () => {
  const settleUntil = (path: string, until: number, link?: string) =>
    settleWatched([{ root, path: at(path), link }], new Set(), { until });
  const changedAt = (path: string): number => lstatSync(at(path)).ctimeMs;

  it('stays, and what is not is set aside', async () => {
    await writeFile(at('.npmrc'), 'x');
    expect(await settleUntil('.npmrc', changedAt('.npmrc') - 1)).toEqual([]);
    expect(await settleUntil('.npmrc', changedAt('.npmrc'))).toMatchObject([{ outcome: 'set-aside' }]);
  });

  it('hides nothing older in a folder', async () => {
    await mkdir(at('.vscode'));
    await writeFile(at('.vscode/tasks.json'), 'evil');
    const planted = changedAt('.vscode/tasks.json');
    // The clock of a file system ticks every few milliseconds.
    while (changedAt('.vscode') <= planted) await chmod(at('.vscode'), 0o755);
    expect(await settleUntil('.vscode', planted - 1)).toEqual([]);
    expect(await settleUntil('.vscode', planted)).toMatchObject([{ path: at('.vscode') }]);
  });

  it('is also a link that was removed, by the folder that it was in', async () => {
    expect(await settleUntil('.mcp.json', changedAt('.') - 1, 'conf/mcp.json')).toEqual([]);
    expect(await settleUntil('.mcp.json', changedAt('.'), 'conf/mcp.json')).toMatchObject([
      { outcome: 'put-back' },
    ]);
  });
});

describe('a link that was there', () => {
  it('stays as it is', async () => {
    await symlink('conf/mcp.json', at('.mcp.json'));
    expect(await settle('.mcp.json', 'conf/mcp.json')).toEqual([]);
  });

  it('is put back where it was removed', async () => {
    expect(await settle('.mcp.json', 'conf/mcp.json')).toEqual([
      { path: at('.mcp.json'), outcome: 'put-back' },
    ]);
    expect(readlinkSync(at('.mcp.json'))).toBe('conf/mcp.json');
  });

  it.each([
    ['another link', () => symlink('evil.json', at('.mcp.json'))],
    ['a file', () => writeFile(at('.mcp.json'), 'evil')],
  ])('is put back where it was replaced by %s', async (_name, replace) => {
    await replace();
    expect(await settle('.mcp.json', 'conf/mcp.json')).toMatchObject([{ outcome: 'set-aside' }]);
    expect(readlinkSync(at('.mcp.json'))).toBe('conf/mcp.json');
    expect(lstatSync(at('.mcp.json.set-aside'))).toBeDefined();
  });
});
