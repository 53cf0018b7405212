/**
 * Opens what is a file (or a folder) and nothing else, at the place that was judged and no other: no links are
 * followed, no device or pipe is waited for, no file that the kernel makes up is read (`/proc` has
 * the environment of the gateway itself).
 */
import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, lstat, open, readlink, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError, toFileError } from './file-error.js';
import { realTarget } from './real-path.js';

export interface OpenFile {
  handle: FileHandle;
  stats: Stats;
}

/** File systems without files on a disk: proc, sysfs, debugfs, tracefs, cgroup, securityfs, bpf. */
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x27e0eb, 0x63677270, 0x73636673, 0xcafe4a11,
]);

/** Another program may replace the file at the very moment that it is opened. */
const ATTEMPTS = 3;

/**
 * `real` has no links in it, as `realTarget` gives it; `at` is another way to the same file (below
 * a held folder). The caller closes the handle. Throws FileError.
 */
export async function openRegularFile(real: string, at: string = real): Promise<OpenFile> {
  for (let attempt = 1; ; attempt++) {
    const file = await openOnce(real, at);
    const place = await describePlace(file.handle, real);
    if (place === real) return file;
    await file.handle.close();
    if (attempt === ATTEMPTS) throw movedError(real);
  }
}

function movedError(real: string): FileError {
  return new FileError(
    'moved',
    real,
    `A folder on the way to ${real} was replaced by a link meanwhile, so it is not touched. Look at it with LS and try again.`,
  );
}

/** Where an open file or folder really is. Without `/proc`, where its path leads now. */
async function describePlace(handle: FileHandle, path: string): Promise<string> {
  if (process.platform !== 'linux') return realTarget(path);
  return readlink(`/proc/self/fd/${handle.fd}`).catch(() => realTarget(path));
}

async function openOnce(real: string, at: string): Promise<OpenFile> {
  try {
    // Opening alone has effects on some devices, hence the look before.
    assertRegular(await lstat(at), real);
    await assertOnDisk(real, at);
    // Without O_NONBLOCK a pipe that came there since would be waited for.
    const handle = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      assertRegular(stats, real);
      return { handle, stats };
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw toFileError(error, real);
  }
}

export function assertRegular(stats: Stats, path: string): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw new FileError('folder', path, `${path} is a folder.`);
  if (stats.isSymbolicLink()) throw movedError(path);
  throw new FileError('not-regular', path, `${path} is ${specialKind(stats)}, not a file with contents.`);
}

function specialKind(stats: Stats): string {
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

async function assertOnDisk(real: string, at: string): Promise<void> {
  if (process.platform !== 'linux') return;
  const { type } = await statfs(at);
  if (!KERNEL_FILE_SYSTEMS.has(type)) return;
  throw new FileError(
    'not-regular',
    real,
    `${real} is made up by the kernel and not a file on a disk. If it is needed, print it with a Bash command.`,
  );
}

/**
 * A folder that stays the same one whatever becomes of its path. Node has no openat; on Linux
 * `/proc/self/fd/N/name` does the same, so that a link planted on the way cannot redirect a write.
 */
export interface HeldFolder {
  /** A path to `name` in this folder, good while it is held. */
  at(name: string): string;
  close(): Promise<void>;
}

/** `real` has no links in it. Throws FileError, also where it is no longer there. */
export async function holdFolder(real: string): Promise<HeldFolder> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(real, flags).catch((error: unknown) => {
    // A link at the end of the path is no folder to these flags.
    throw realTarget(real) === real ? toFileError(error, real) : movedError(real);
  });
  try {
    if ((await describePlace(handle, real)) !== real) throw movedError(real);
    const viaHandle = `/proc/self/fd/${handle.fd}`;
    const held = process.platform === 'linux' && (await access(viaHandle).then(yes, no));
    const base = held ? viaHandle : real;
    return { at: (name) => join(base, name), close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const yes = (): boolean => true;
const no = (): boolean => false;
