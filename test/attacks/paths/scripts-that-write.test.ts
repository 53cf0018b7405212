/** A script in the sandbox writes without naming what it writes, so that only the walls can hold it. */
import { execFile } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox } from '../../../src/sandbox/create-sandbox.js';
import type { Sandbox, SetAside } from '../../../src/sandbox/sandbox.js';
import { CODE_FILES, HELD_PATHS } from '../../../src/workspace/code-files.js';

let base: string;
let root: string;
let sandbox: Sandbox;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-b10-')));
  root = join(base, 'work');
  await mkdir(root);
  await mkdir(join(base, 'home'));
  sandbox = await createSandbox({ mode: 'required', home: join(base, 'home') });
});
afterEach(async () => {
  await sandbox.close();
  await rm(base, { recursive: true, force: true });
});

/** Rejects where the script fails; gives what was set aside. */
async function run(script: string): Promise<readonly SetAside[]> {
  const wrapped = await sandbox.wrap(script, { writable: [root], hidden: [], hosts: [], cwd: root });
  const env = { ...sandbox.environment, ...wrapped.env };
  const failure = await new Promise<Error | null>((resolve) => {
    execFile(wrapped.file, [...wrapped.args], { cwd: root, env }, resolve);
  });
  const undone = await wrapped.release();
  if (failure !== null) throw failure;
  return undone;
}

const NAMES = new Set(
  CODE_FILES.flatMap(({ names, parts = [] }) =>
    [names, ...parts.map((part) => part.names)].flatMap((text) => text.split(' ')),
  ),
);
const isFolder = (path: string): boolean => NAMES.has(`${path}/`) || NAMES.has(`${path.split('/').at(-1)}/`);
/** The file that is attacked: of a folder one in it. */
const fileOf = (path: string): string => (isFolder(path) ? `${path}/x` : path);

/**
 * Whatever a script can do about paths and the folders that they are in, by the calls that `echo`,
 * `dd`, `mv`, `cp`, `ln`, `chmod`, `truncate` and `rm` make. Each step goes on where the last failed.
 */
const ATTACK = `
  const fs = require('node:fs');
  const { dirname, join } = require('node:path');
  const here = (name) => join(process.cwd(), name);
  const all = (...steps) => { for (const step of steps) try { step(); } catch {} };
  const remove = (path) => fs.rmSync(path, { recursive: true, force: true });
  for (const [path, file] of JSON.parse(process.argv[1])) {
    const parent = dirname(path);
    const write = () => all(
      () => fs.mkdirSync(dirname(file), { recursive: true }),
      () => fs.writeFileSync(file, 'evil'),
      () => fs.appendFileSync(file, 'evil'),
    );
    write();
    all(
      () => fs.writeFileSync(fs.openSync(file, 'r+'), 'evil'),
      () => fs.writeFileSync('own', 'evil'),
      () => fs.renameSync('own', file),
      () => fs.writeFileSync('own', 'evil'),
      () => fs.copyFileSync('own', file),
      () => fs.symlinkSync(here('own'), file + '-link'),
      () => fs.renameSync(file + '-link', file),
      () => fs.linkSync(file, 'hard'),
      () => fs.writeFileSync('hard', 'evil'),
      () => fs.chmodSync(file, 0o777),
      () => fs.truncateSync(file),
      () => remove(path),
      () => fs.renameSync(path, 'moved-away'),
      () => fs.renameSync(path, 'other-name'),
    );
    if (parent !== '.') all(
      () => fs.renameSync(parent, 'parent-moved'),
      () => remove(parent),
      () => fs.mkdirSync('planted', { recursive: true }),
      () => fs.symlinkSync(here('planted'), parent),
    );
    for (const name of ['own', 'hard', 'moved-away', 'other-name', file + '-link']) all(() => remove(name));
    all(() => { for (const name of fs.readdirSync('parent-moved')) remove(join('parent-moved', name)); });
    write();
    fs.appendFileSync('attacked', path + '\\n');
  }
`;

/** What was set aside. Fails where the script did not come to its end, or cannot write in its folder at all. */
async function attack(paths: readonly string[]): Promise<readonly SetAside[]> {
  const attacked = JSON.stringify(paths.map((path) => [path, fileOf(path)]));
  const undone = await run(`node -e ${quoted(ATTACK)} ${quoted(attacked)}`);
  expect(await readFile(join(root, 'attacked'), 'utf8')).toBe(paths.map((path) => `${path}\n`).join(''));
  return undone;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const rows = CODE_FILES.map(({ names, what, parts }) => {
  const held = HELD_PATHS.filter(({ path }) =>
    names.split(' ').some((name) => {
      const own = name.replace(/\/$/, '');
      return parts === undefined ? path === own : path.startsWith(`${own}/`);
    }),
  );
  return { what, names, held };
}).filter(({ held }) => held.length > 0);

describe('a script in the sandbox, and files that run code', () => {
  it('has a row for each path of the table', () => {
    expect(rows.flatMap(({ held }) => held).length).toBe(HELD_PATHS.length);
  });

  it.each(rows)('cannot change, remove or replace them: $names', async ({ held }) => {
    for (const { path } of held) {
      await mkdir(dirname(join(root, fileOf(path))), { recursive: true });
      await writeFile(join(root, fileOf(path)), 'old');
    }
    expect(await attack(held.map(({ path }) => path))).toEqual([]);
    for (const { path } of held) {
      expect(lstatSync(join(root, fileOf(path))).isFile(), path).toBe(true);
      expect(await readFile(join(root, fileOf(path)), 'utf8'), path).toBe('old');
    }
  });

  it.each(rows)('cannot make them where they are missing: $names', async ({ held }) => {
    const wanted = held.filter(({ whenMissing }) => whenMissing !== 'leave');
    const undone = await attack(held.map(({ path }) => path));
    for (const { path } of wanted) expect(existsSync(join(root, path)), path).toBe(false);
    // Of several in one folder, the folder's link is what is set aside.
    expect(undone.length > 0).toBe(wanted.length > 0);
    for (const each of undone) expect(each.outcome).toBe('set-aside');
  });

  it('leaves nothing behind of a command that touches none of them', async () => {
    expect(await run('echo a > a && mkdir -p b/c && git init -q b/c && npm --version')).toEqual([]);
    expect((await readdir(root)).sort()).toEqual(['a', 'b']);
  });
});
