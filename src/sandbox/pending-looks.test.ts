import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { approvedFile } from './approved-files.js';
import { createPendingLooks } from './pending-looks.js';

let base: string;
let root: string;
let folder: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-pending-')));
  root = join(base, 'work');
  folder = join(base, 'commands');
  await mkdir(root);
});
afterEach(() => rm(base, { recursive: true, force: true }));

const at = (path: string): string => join(root, path);
const look = () => ({
  watched: ['.npmrc', '.vscode'].map((name) => ({ root, path: at(name) })),
  standIns: [],
  searched: { roots: [root], repositories: [] },
});

/** The record of a gateway that is gone; it was last there so many seconds after `path` was changed. */
async function leaveRecord(path: string, seconds: number, more: object = {}): Promise<void> {
  await mkdir(folder, { recursive: true });
  // No process has such a number.
  const file = join(folder, '999999999.1.ab.json');
  await writeFile(file, JSON.stringify({ ...look(), ...more }));
  const time = (await stat(path)).ctimeMs / 1000 + seconds;
  await utimes(file, time, time);
}

describe('the record of a gateway that was killed', () => {
  it('has set aside what is as old as that gateway, and a little newer', async () => {
    await writeFile(at('.npmrc'), 'evil');
    await leaveRecord(at('.npmrc'), -5);
    expect(await createPendingLooks(folder).recover()).toMatchObject([{ path: at('.npmrc') }]);
    expect(await readdir(root)).toEqual(['.npmrc.set-aside']);
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves what a person made after it', async () => {
    await writeFile(at('.npmrc'), 'mine');
    await mkdir(at('.vscode'));
    await writeFile(at('.vscode/settings.json'), '{}');
    await leaveRecord(at('.npmrc'), -60);
    expect(await createPendingLooks(folder).recover()).toEqual([]);
    expect((await readdir(root)).sort()).toEqual(['.npmrc', '.vscode']);
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves what was written with approval while its command ran, if it is still that', async () => {
    await writeFile(at('.npmrc'), 'mine');
    await mkdir(at('.vscode'));
    await writeFile(at('.vscode/settings.json'), 'changed');
    const approved = ['.npmrc', '.vscode/settings.json'].map((name) =>
      approvedFile(at(name), Buffer.from('mine')),
    );
    await leaveRecord(at('.npmrc'), 60, { approved });
    expect(await createPendingLooks(folder).recover()).toMatchObject([{ path: at('.vscode/settings.json') }]);
    expect((await readdir(root)).sort()).toEqual(['.npmrc', '.vscode']);
  });

  it('is touched while the command runs, notes what was approved, and goes with it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: Date.now() });
    try {
      const record = createPendingLooks(folder).add(look());
      const file = join(folder, (await readdir(folder))[0] ?? '');
      vi.advanceTimersByTime(3_600_000);
      expect((await stat(file)).mtimeMs).toBeGreaterThan(Date.now() - 10_000);
      const approved = [approvedFile(at('.npmrc'), Buffer.from('mine'))];
      const watched = [{ root, path: at('.npmrc') }];
      record.update({ watched, approved });
      expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ ...look(), watched, approved });
      record.remove();
      expect(vi.getTimerCount()).toBe(0);
      expect(await readdir(folder)).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});
