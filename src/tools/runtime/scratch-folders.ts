/**
 * Private folders of sessions, all below one folder of this process. What a process that is gone
 * has left behind is removed by the next one; a process is known by its id and its start time,
 * because ids come again.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface ScratchFolders {
  /** A new folder, 0700. */
  make(): Promise<string>;
  remove(path: string): Promise<void>;
  /** Removes everything of this process. */
  close(): Promise<void>;
}

const PRIVATE = 0o700;
/** `pid-start-random`. */
const PROCESS_FOLDER = /^(\d+)-([0-9a-z]+)-[A-Za-z0-9]+$/;
const UNKNOWN_START = 'x';

export function createScratchFolders(base: string): ScratchFolders {
  const swept = sweep(base);
  let own: Promise<string> | undefined;
  let closed = false;

  const open = async (): Promise<string> => {
    await swept;
    await mkdir(base, { recursive: true, mode: PRIVATE });
    const start = (await startOf(process.pid)) ?? UNKNOWN_START;
    return mkdtemp(join(base, `${process.pid}-${start}-`));
  };

  return {
    async make() {
      if (closed) throw new Error('the private folders of this process are closed');
      own ??= open();
      return mkdtemp(join(await own, 's-'));
    },
    remove: (path) => rm(path, { recursive: true, force: true, maxRetries: 3 }),
    async close() {
      closed = true;
      await swept;
      const folder = await own?.catch(() => undefined);
      if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Removes the folders of processes that are gone. Never throws: it is only tidying up. */
export async function sweep(base: string): Promise<void> {
  const names = await readdir(base).catch(() => []);
  await Promise.all(
    names.map(async (name) => {
      const [, pid = '', start = ''] = PROCESS_FOLDER.exec(name) ?? [];
      if (pid === '' || (await isAlive(Number(pid), start))) return;
      await rm(join(base, name), { recursive: true, force: true }).catch(() => {});
    }),
  );
}

async function isAlive(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const now = await startOf(pid);
  // Where that is unknown, a folder too many is better than one taken from a running process.
  return now === undefined || start === UNKNOWN_START || now === start;
}

/** When a process began, as a word that no other process with the same id has. */
async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name of the program stands in parentheses and may hold spaces; field 22 is the start.
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return start === undefined || start === '' ? undefined : start;
  }
  if (process.platform === 'win32') return undefined;
  const shown = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => undefined);
  const start = Date.parse(shown?.stdout.trim() ?? '');
  return Number.isNaN(start) ? undefined : start.toString(36);
}
