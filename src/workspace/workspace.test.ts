import { symlinkSync, writeFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/cleanup.js';
import { displayPath, openWorkspace, resolvePath } from './workspace.js';

describe('openWorkspace', () => {
  it('has the real path of the root and the home', async () => {
    const { path } = await tempFolder();
    symlinkSync('.', join(path, 'link'));
    const workspace = openWorkspace(join(path, 'link'), join(path, 'link'));
    expect(workspace).toEqual({ root: await realpath(path), home: await realpath(path) });
  });

  it('refuses what is no folder, and says what to do', async () => {
    const { path } = await tempFolder();
    writeFileSync(join(path, 'file'), '');
    expect(() => openWorkspace(join(path, 'file'))).toThrow('is not a folder');
    expect(() => openWorkspace(join(path, 'none'))).toThrow('Create the folder');
  });
});

describe('resolvePath', () => {
  it.each([
    ['/a/../b', '/b'],
    ['a/b', '/cwd/a/b'],
    ['../x', '/x'],
    ['~', '/home/me'],
    ['~/a', '/home/me/a'],
    ['~other/a', '/cwd/~other/a'],
    ['~/../x', '/home/x'],
  ])('%s is %s', (given, expected) => {
    expect(resolvePath(given, { cwd: '/cwd', home: '/home/me' })).toBe(expected);
  });
});

describe('displayPath', () => {
  it('is short inside of the root only', () => {
    expect(displayPath('/work/a/b', '/work')).toBe('a/b');
    expect(displayPath('/work-evil/a', '/work')).toBe('/work-evil/a');
    expect(displayPath('/work', '/work')).toBe('/work');
  });
});
