import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hiddenFiles } from './hidden-files.js';

let base: string;
let root: string;
let home: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-hidden-')));
  root = join(base, 'work');
  home = join(base, 'home');
  for (const path of [
    'work/.env',
    'work/app/.env',
    'work/keys/a.pem',
    'work/keys/a.txt',
    'work/secrets/deep/x',
    'work/node_modules/a/.env',
    'home/.token',
    'other/file',
  ]) {
    await mkdir(dirname(join(base, path)), { recursive: true });
    await writeFile(join(base, path), '');
  }
});
afterEach(() => rm(base, { recursive: true, force: true }));

const hidden = async (...deny: string[]): Promise<string[]> =>
  (await hiddenFiles(deny, { root, home })).map((path) => path.slice(base.length + 1)).sort();

describe('files that rules hide from commands', () => {
  it.each([
    ['from the workspace', 'Read(./.env)', ['work/.env']],
    ['above the workspace', 'Read(../other/file)', ['other/file']],
    ['from the home', 'Read(~/.token)', ['home/.token']],
    ['a folder', 'Read(./secrets)', ['work/secrets']],
    ['a folder with everything in it', 'Read(./secrets/**)', ['work/secrets']],
    ['a name in any folder, but not of packages', 'Read(.env)', ['work/.env', 'work/app/.env']],
    ['with wildcards', 'Read(./**/*.pem)', ['work/keys/a.pem']],
    ['in either case where it is searched', 'Read(.ENV)', ['work/.env', 'work/app/.env']],
    ['what is not there', 'Read(./none)', []],
    ['the whole workspace, which could not be worked in', 'Read(./**)', []],
    ['the same by its own path', 'Read(../work)', []],
    ['rules about something else', 'Edit(./.env)', []],
    ['a whole tool', 'Read', []],
  ])('%s: %s', async (_name, rule, expected) => {
    expect(await hidden(rule)).toEqual(expected);
  });

  it('from the root', async () => {
    expect(await hidden(`Read(/${join(base, 'other', 'file')})`)).toEqual(['other/file']);
  });
});
