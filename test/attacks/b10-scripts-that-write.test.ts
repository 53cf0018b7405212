/** B10, from inside of the sandbox: a script writes without naming what it writes, so that only the walls can hold it. */
import { execFile } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/create-sandbox.js';
import type { Sandbox, SetAside } from '../../src/sandbox/sandbox.js';
import { CODE_FILES, HELD_PATHS, type HeldPath } from '../../src/workspace/code-files.js';

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

async function run(script: string): Promise<readonly SetAside[]> {
  const wrapped = await sandbox.wrap(script, { writable: [root], hidden: [], hosts: [], cwd: root });
  const env = { ...sandbox.environment, ...wrapped.env };
  await new Promise<void>((resolve) => {
    execFile(wrapped.file, [...wrapped.args], { cwd: root, env }, () => resolve());
  });
  return wrapped.release();
}

const NAMES = new Set(
  CODE_FILES.flatMap(({ names, parts = [] }) =>
    [names, ...parts.map((part) => part.names)].flatMap((text) => text.split(' ')),
  ),
);
const isFolder = (path: string): boolean => NAMES.has(`${path}/`) || NAMES.has(`${path.split('/').at(-1)}/`);
/** The file that is attacked: of a folder one in it. */
const fileOf = (path: string): string => (isFolder(path) ? `${path}/x` : path);

/** Whatever a script can do about a path and the folder that it is in. Each step goes on where the last failed. */
function attack(path: string): string {
  const file = fileOf(path);
  const parent = dirname(path);
  const write = `mkdir -p '${dirname(file)}'; echo evil > '${file}'; echo evil >> '${file}'`;
  return [
    write,
    `dd if=/dev/zero of='${file}' bs=1 count=1`,
    `echo evil > own; mv -f own '${file}'; cp -f own '${file}'; ln -sf "$PWD/own" '${file}'; ln '${file}' hard && echo evil > hard`,
    `chmod 777 '${file}'; truncate -s 0 '${file}'; rm -rf '${path}'`,
    `mv '${path}' moved-away; mv -T '${path}' other-name`,
    ...(parent === '.'
      ? []
      : [
          `mv '${parent}' parent-moved; rm -rf '${parent}'; mkdir -p planted; ln -s "$PWD/planted" '${parent}'`,
        ]),
    'rm -rf own hard moved-away other-name parent-moved/*',
    write,
    'true',
  ].join('\n');
}

const rows = CODE_FILES.map(({ names, what, parts }) => {
  const held = HELD_PATHS.filter(({ path }) =>
    names.split(' ').some((name) => {
      const own = name.replace(/\/$/, '');
      return parts === undefined ? path === own : path.startsWith(`${own}/`);
    }),
  );
  return { what, names, held };
}).filter(({ held }) => held.length > 0);

describe('B10: a script in the sandbox, and files that run code', () => {
  it('has a row for each path of the table', () => {
    expect(rows.flatMap(({ held }) => held).length).toBe(HELD_PATHS.length);
  });

  it.each(rows)('cannot change, remove or replace them: $names', async ({ held }) => {
    for (const { path } of held) {
      await mkdir(dirname(join(root, fileOf(path))), { recursive: true });
      await writeFile(join(root, fileOf(path)), 'old');
    }
    expect(await run(held.map(({ path }) => attack(path)).join('\n'))).toEqual([]);
    for (const { path } of held) {
      expect(lstatSync(join(root, fileOf(path))).isFile(), path).toBe(true);
      expect(await readFile(join(root, fileOf(path)), 'utf8'), path).toBe('old');
    }
  });

  it.each(rows)('cannot make them where they are missing: $names', async ({ held }) => {
    const wanted = held.filter(({ whenMissing }) => whenMissing !== 'leave');
    const undone = await run(held.map(({ path }) => attack(path)).join('\n'));
    for (const { path } of wanted) expect(existsSync(join(root, path)), path).toBe(false);
    const planted = wanted.filter(({ whenMissing }: HeldPath) => whenMissing === 'undo');
    // Of several in one folder, the folder's link is what is set aside.
    expect(undone.length > 0).toBe(planted.some(({ path }) => !path.startsWith('.git/')));
    for (const each of undone) expect(each.outcome).toBe('set-aside');
  });

  it('leaves nothing behind of a command that touches none of them', async () => {
    expect(await run('echo a > a; mkdir -p b/c; git init -q b/c; npm --version')).toEqual([]);
    expect((await readdir(root)).sort()).toEqual(['a', 'b']);
  });
});
