import { spawn } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../test/support/cleanup.js';
import { lockedPaths, replaceFile } from './atomic-write.js';
import { FileError } from './file-error.js';
import { versionOfBytes } from './file-state.js';
import { realTarget } from './real-path.js';
import { readTextFile } from './text-file.js';

async function folder(): Promise<string> {
  return realpath((await tempFolder()).path);
}

async function problemOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => (error instanceof FileError ? error.problem : `a bug: ${String(error)}`),
  );
}

const text = (content: string): Buffer => Buffer.from(content);
const versionOf = (path: string) => versionOfBytes(readFileSync(path), statSync(path).mtimeMs);

describe('replaceFile', () => {
  it('keeps the mode of the file and leaves nothing beside it', async () => {
    const root = await folder();
    const real = join(root, 'run.sh');
    writeFileSync(real, 'old');
    chmodSync(real, 0o751);
    await replaceFile({ real, bytes: text('new'), expected: versionOf(real) });
    expect(readFileSync(real, 'utf8')).toBe('new');
    expect(statSync(real).mode & 0o777).toBe(0o751);
    expect(readdirSync(root)).toEqual(['run.sh']);
  });

  it('drops set-uid, as every write does', async () => {
    const real = join(await folder(), 'tool');
    writeFileSync(real, 'old');
    chmodSync(real, 0o4755);
    await replaceFile({ real, bytes: text('new'), expected: versionOf(real) });
    expect(statSync(real).mode & 0o7777).toBe(0o755);
  });

  it('makes a new file with its folders, under the umask', async () => {
    const real = join(await folder(), 'a', 'b', 'new.txt');
    await replaceFile({ real, bytes: text('x'), expected: 'absent' });
    expect(readFileSync(real, 'utf8')).toBe('x');
    expect(statSync(real).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it('gives the state that a later read finds', async () => {
    const real = join(await folder(), 'a.txt');
    const version = await replaceFile({ real, bytes: text('x'), expected: 'absent' });
    expect((await readTextFile(real))?.version).toEqual(version);
  });

  it('does not replace bytes other than those expected', async () => {
    const root = await folder();
    const real = join(root, 'a.txt');
    writeFileSync(real, 'old');
    const expected = versionOf(real);
    writeFileSync(real, 'NEW');
    utimesSync(real, expected.mtimeMs / 1000, expected.mtimeMs / 1000);
    expect(await problemOf(replaceFile({ real, bytes: text('mine'), expected }))).toBe('changed');
    expect(readFileSync(real, 'utf8')).toBe('NEW');
    expect(readdirSync(root)).toEqual(['a.txt']);
  });

  it('takes a file that was only touched as unchanged', async () => {
    const real = join(await folder(), 'a.txt');
    writeFileSync(real, 'old');
    const expected = versionOf(real);
    utimesSync(real, 1, 1);
    await replaceFile({ real, bytes: text('new'), expected });
    expect(readFileSync(real, 'utf8')).toBe('new');
  });

  it('does not overwrite a file that came to be there meanwhile', async () => {
    const root = await folder();
    const real = join(root, 'a.txt');
    writeFileSync(real, 'theirs');
    expect(await problemOf(replaceFile({ real, bytes: text('mine'), expected: 'absent' }))).toBe('changed');
    expect(readFileSync(real, 'utf8')).toBe('theirs');
    expect(readdirSync(root)).toEqual(['a.txt']);
  });

  it('does not make anew a file that was removed meanwhile', async () => {
    const real = join(await folder(), 'a.txt');
    const expected = versionOfBytes(text('old'), 1);
    expect(await problemOf(replaceFile({ real, bytes: text('mine'), expected }))).toBe('missing');
  });

  it('does not write through a folder that became a link after the path was resolved', async () => {
    const root = await folder();
    mkdirSync(join(root, 'inside'));
    mkdirSync(join(root, 'outside'));
    writeFileSync(join(root, 'outside', 'a.txt'), 'old');
    writeFileSync(join(root, 'inside', 'a.txt'), 'old');
    const real = realTarget(join(root, 'inside', 'a.txt'));
    const expected = versionOf(real);
    renameSync(join(root, 'inside'), join(root, 'elsewhere'));
    symlinkSync('outside', join(root, 'inside'));
    expect(await problemOf(replaceFile({ real, bytes: text('mine'), expected }))).toBe('moved');
    expect(readFileSync(join(root, 'outside', 'a.txt'), 'utf8')).toBe('old');
  });

  it('does not follow a deeper folder that became a link, nor make a file below it', async () => {
    const root = await folder();
    mkdirSync(join(root, 'outside', 'sub'), { recursive: true });
    const real = join(root, 'inside', 'sub', 'new.txt');
    symlinkSync('outside', join(root, 'inside'));
    expect(await problemOf(replaceFile({ real, bytes: text('x'), expected: 'absent' }))).toBe('moved');
    expect(readdirSync(join(root, 'outside', 'sub'))).toEqual([]);
  });

  it('does not replace a link by a file', async () => {
    const root = await folder();
    writeFileSync(join(root, 'target'), 'old');
    const real = join(root, 'link');
    symlinkSync('target', real);
    const expected = versionOf(join(root, 'target'));
    expect(await problemOf(replaceFile({ real, bytes: text('x'), expected }))).toBe('moved');
    expect(lstatSync(real).isSymbolicLink()).toBe(true);
  });

  it('leaves the other name of a hard link as it was', async () => {
    const root = await folder();
    const real = join(root, 'a');
    writeFileSync(real, 'old');
    linkSync(real, join(root, 'b'));
    await replaceFile({ real, bytes: text('new'), expected: versionOf(real) });
    expect(readFileSync(join(root, 'b'), 'utf8')).toBe('old');
  });

  it('lets one of many writers win, with the same start, and loses nothing silently', async () => {
    const real = join(await folder(), 'a.txt');
    writeFileSync(real, 'start');
    const expected = versionOf(real);
    const problems = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        problemOf(replaceFile({ real, bytes: text(`writer ${index}`), expected })),
      ),
    );
    expect(problems.filter((problem) => problem === 'none')).toHaveLength(1);
    expect(problems.filter((problem) => problem === 'changed')).toHaveLength(19);
    expect(lockedPaths()).toBe(0);
  });

  it('never writes elsewhere while another process swaps a folder for a link and back', async () => {
    const root = await folder();
    for (const name of ['inside', 'outside']) {
      mkdirSync(join(root, name, 'sub'), { recursive: true });
      writeFileSync(join(root, name, 'sub', 'a.txt'), 'same');
    }
    const real = join(root, 'inside', 'sub', 'a.txt');
    const elsewhere = statSync(join(root, 'outside', 'sub', 'a.txt')).ino;
    const expected = versionOf(real);
    const attacker = spawn(process.execPath, ['-e', SWAP], { cwd: root, stdio: 'ignore' });
    const gone = new Promise((resolve) => attacker.once('exit', resolve));
    closeAfterTest(() => attacker.kill('SIGKILL'));
    for (let index = 0; index < 800; index++) {
      await problemOf(replaceFile({ real, bytes: text('same'), expected }));
    }
    attacker.kill('SIGKILL');
    await gone;
    // A write is a rename: where there was one, there is another file now.
    expect(statSync(join(root, 'outside', 'sub', 'a.txt')).ino).toBe(elsewhere);
    expect(readdirSync(join(root, 'outside', 'sub'))).toEqual(['a.txt']);
  });
});

const SWAP = `
  const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
  for (;;) {
    renameSync('inside', 'away');
    symlinkSync('outside', 'inside');
    unlinkSync('inside');
    renameSync('away', 'inside');
  }`;
