/**
 * Replaces a file whole or not at all: a temporary file beside it, then a rename. Readers see the
 * old bytes or the new ones. Mode and, where the system permits, owner stay; access lists and
 * extended attributes do not, and a hard link keeps the old bytes under its other names.
 */
import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, link, lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { deferred } from '../core/deferred.js';
import { errorCode, FileError, toFileError } from './file-error.js';
import { type FileVersion, sameVersion, versionOfBytes } from './file-state.js';
import { assertRegular, type HeldFolder, holdFolder, openRegularFile } from './regular-file.js';

/**
 * One writer at a time for each real path, over all sessions of the process. What other programs
 * write is found by comparing versions, not by locks.
 */
const tails = new Map<string, Promise<void>>();

/** Runs `work` after all earlier work for `key`, whether that failed or not. */
async function withPathLock<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = tails.get(key);
  const { promise, resolve: release } = deferred();
  tails.set(key, promise);
  try {
    await before;
    return await work();
  } finally {
    if (tails.get(key) === promise) tails.delete(key);
    release();
  }
}

/** How many paths are locked or waited for. */
export function lockedPaths(): number {
  return tails.size;
}

interface FileReplacement {
  /** Where the bytes go: no links in it, as `realTarget` gives it. */
  real: string;
  bytes: Uint8Array;
  /** What the bytes were made from. `absent`: the file must not exist. */
  expected: FileVersion | 'absent';
  /** Wait until the bytes are on the disk. */
  durable?: boolean;
}

/** Systems where a file cannot have two names answer with one of these. */
const NO_HARD_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'];

/** Resolves with the new state. Throws FileError, and then nothing has changed. */
export async function replaceFile(replacement: FileReplacement): Promise<FileVersion> {
  const { real, expected } = replacement;
  return withPathLock(real, async () => {
    try {
      if (expected === 'absent') await mkdir(dirname(real), { recursive: true });
      const folder = await holdFolder(dirname(real));
      try {
        return await replaceIn(folder, replacement);
      } finally {
        await folder.close();
      }
    } catch (error) {
      throw toFileError(error, real);
    }
  });
}

async function replaceIn(folder: HeldFolder, replacement: FileReplacement): Promise<FileVersion> {
  const { real, bytes, expected } = replacement;
  const target = folder.at(basename(real));
  const before = expected === 'absent' ? undefined : await statsToKeep(target, real);
  const temporary = folder.at(`.toolgate-${randomBytes(12).toString('hex')}.tmp`);
  // A new file gets what the umask leaves; a copy of an existing one is private until it is whole.
  const handle = await open(temporary, 'wx', before === undefined ? 0o666 : 0o600);
  let stats: Stats;
  try {
    try {
      await handle.writeFile(bytes);
      if (before !== undefined) await keepOwnerAndMode(handle, before);
      if (replacement.durable === true) await handle.sync();
      stats = await handle.stat();
    } finally {
      await handle.close();
    }
    if (expected === 'absent') await placeNew(temporary, target, real);
    else {
      await assertUnchanged(real, target, expected);
      await rename(temporary, target);
    }
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  return versionOfBytes(bytes, stats.mtimeMs);
}

/** A user who could not write to the file must not get around that by replacing it. */
async function statsToKeep(target: string, real: string): Promise<Stats> {
  const stats = await lstat(target);
  assertRegular(stats, real);
  await access(target, constants.W_OK).catch((error: unknown) => {
    throw new FileError(
      'forbidden',
      real,
      `${real} is read-only for the gateway. It was not changed.`,
      error,
    );
  });
  return stats;
}

async function keepOwnerAndMode(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const own = await handle.stat();
  if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid).catch(() => {});
  // As the kernel does on every write, without set-uid and set-gid.
  await handle.chmod(mode & 0o1777);
}

async function assertUnchanged(real: string, target: string, expected: FileVersion): Promise<void> {
  const { handle, stats } = await openRegularFile(real, target);
  try {
    const same =
      stats.size === expected.size &&
      sameVersion(versionOfBytes(await handle.readFile(), stats.mtimeMs), expected);
    if (!same) throw changedError(real);
  } finally {
    await handle.close();
  }
}

/** Two names for a moment: unlike a rename, this fails where something came to be there meanwhile. */
async function placeNew(temporary: string, target: string, real: string): Promise<void> {
  try {
    await link(temporary, target);
    await unlink(temporary);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') throw appearedError(real);
    if (code === undefined || !NO_HARD_LINKS.includes(code)) throw error;
    const taken = await lstat(target).then(
      () => true,
      () => false,
    );
    if (taken) throw appearedError(real);
    await rename(temporary, target);
  }
}

export function changedError(real: string): FileError {
  return new FileError(
    'changed',
    real,
    `${real} changed after it was read, so nothing was written. Read it again, then make the change on what it says now.`,
  );
}

function appearedError(real: string): FileError {
  return new FileError(
    'changed',
    real,
    `${real} was made by another program meanwhile, so nothing was written. Read it before writing.`,
  );
}
