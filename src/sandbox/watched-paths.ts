/**
 * What no mount can hold is looked at again when the command has ended: a file that must not be
 * made is set aside under another name, a link that was changed is put back. Nothing is deleted,
 * since a person may have made it meanwhile.
 */
import { randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { chmod, lstat, rename, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { FileError } from '../workspace/file-error.js';
import { type HeldFolder, holdFolder } from '../workspace/regular-file.js';
import { type ApprovedFile, findUnapproved, SET_ASIDE } from './approved-files.js';
import { type GitPart, isHarmless } from './harmless-git.js';
import type { SetAside } from './sandbox.js';

export interface WatchedPath {
  /** A writable folder that it lies in. Both without links in them when the command began. */
  root: string;
  path: string;
  /** The link that it was. Absent: it was missing. */
  link?: string | undefined;
  /** It may stay where it runs nothing. */
  look?: GitPart | undefined;
}

interface SettleOptions {
  approved?: readonly ApprovedFile[];
  /** What was made or changed after this time (in ms) belongs to another program and stays. */
  until?: number;
}

/** `numbers` of names before one is drawn; `tries` for a path that changes under the hand; `entries` of a folder. */
const LIMITS = { numbers: [2, 3, 4, 5], tries: 5, entries: 2_000 } as const;

/** `standIns`: empty folders of commands that still run. */
export async function settleWatched(
  watched: readonly WatchedPath[],
  standIns: ReadonlySet<string>,
  { approved = [], until }: SettleOptions = {},
): Promise<SetAside[]> {
  const done: SetAside[] = [];
  for (const each of watched) {
    for (let tries = 1; ; tries += 1) {
      const found = findChange(each, standIns, approved);
      if (found === undefined || (until !== undefined && !isFromBefore(found, until))) break;
      const outcome = await setAside(found, each).catch((error: unknown) => {
        if (error instanceof FileError || isSystemError(error)) return undefined;
        throw error;
      });
      if (outcome !== undefined) done.push(outcome);
      else if (tries >= LIMITS.tries) {
        done.push({ path: found, outcome: 'left' });
        break;
      }
      // Folders on the way are replaced by another command, or were closed by this one.
      else await openFolder(dirname(found));
    }
  }
  return done;
}

async function openFolder(path: string): Promise<void> {
  const stats = look(path);
  if (stats?.isDirectory() === true) await chmod(path, (stats.mode & 0o7777) | 0o700).catch(() => undefined);
}

/** The path to be set aside or put back: itself, or a link on the way to it. */
function findChange(
  { root, path, link, look: part }: WatchedPath,
  standIns: ReadonlySet<string>,
  approved: readonly ApprovedFile[],
): string | undefined {
  let current = root;
  const names = relative(root, path).split(sep);
  for (const [index, name] of names.entries()) {
    current = join(current, name);
    const stats = standIns.has(current) ? undefined : look(current);
    const isLast = index === names.length - 1;
    if (stats === undefined) return isLast ? (link === undefined ? undefined : current) : undefined;
    if (isLast) {
      const isFine =
        part === undefined
          ? link !== undefined && stats.isSymbolicLink() && readlinkSync(current) === link
          : isHarmless(part, current, stats);
      return isFine ? undefined : findUnapproved(current, stats, approved);
    }
    if (stats.isSymbolicLink()) return leadsToSomething(path) ? current : undefined;
    if (!stats.isDirectory()) return undefined;
  }
  return undefined;
}

/**
 * By the time of the last change, which no command can set. Of a folder also by what is in it: a
 * new file there makes the folder a new one. Of what is gone, by the folder that it was in.
 */
function isFromBefore(path: string, until: number): boolean {
  let left: number = LIMITS.entries;
  const visit = (current: string): boolean => {
    left -= 1;
    const stats = look(current);
    if (stats === undefined || left < 0 || stats.ctimeMs <= until) return true;
    if (!stats.isDirectory()) return false;
    try {
      return readdirSync(current).some((name) => visit(join(current, name)));
    } catch {
      return true;
    }
  };
  if (look(path) !== undefined) return visit(path);
  return (look(dirname(path))?.ctimeMs ?? 0) <= until;
}

/** In a folder that is held, so that a link planted in its place leads nowhere else. */
async function setAside(path: string, watched: WatchedPath): Promise<SetAside> {
  const folder = await holdFolder(dirname(path));
  try {
    const name = basename(path);
    const kept = (await isThere(folder.at(name))) ? await freeName(folder, name) : undefined;
    if (kept !== undefined) await rename(folder.at(name), folder.at(kept));
    if (watched.link !== undefined && path === watched.path) await symlink(watched.link, folder.at(name));
    return kept === undefined
      ? { path, outcome: 'put-back' }
      : { path, outcome: 'set-aside', keptAs: join(dirname(path), kept) };
  } finally {
    await folder.close();
  }
}

async function freeName(folder: HeldFolder, name: string): Promise<string> {
  for (const suffix of [SET_ASIDE, ...LIMITS.numbers.map((count) => `${SET_ASIDE}-${count}`)]) {
    if (!(await isThere(folder.at(name + suffix)))) return name + suffix;
  }
  return `${name}${SET_ASIDE}-${randomUUID()}`;
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function leadsToSomething(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error;
