/**
 * Files that were written with approval while a command runs which found them missing. They stay as
 * long as they are what was approved: no mount keeps the command from changing them.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isInside } from '../workspace/real-path.js';

export interface ApprovedFile {
  /** Without links in it. */
  path: string;
  size: number;
  sha256: string;
}

/** What a file is called once it is set aside; a number or a mark can follow. */
export const SET_ASIDE = '.set-aside';
const IS_SET_ASIDE = /\.set-aside(?:-[0-9a-f-]+)?$/;

export function approvedFile(path: string, bytes: Uint8Array): ApprovedFile {
  return { path, size: bytes.length, sha256: hashOf(bytes) };
}

/** The file as it is now; undefined where it cannot be read. */
export function currentFile(path: string): ApprovedFile | undefined {
  try {
    return approvedFile(path, readFileSync(path));
  } catch {
    return undefined;
  }
}

/** The path itself, or the first unapproved one in it; undefined where there is none. */
export function findUnapproved(
  path: string,
  stats: Stats,
  approved: readonly ApprovedFile[],
): string | undefined {
  const inside = approved.filter((file) => isInside(path, file.path));
  if (inside.length === 0) return path;
  if (!stats.isDirectory()) return inside.some((file) => isUnchanged(path, stats, file)) ? undefined : path;
  for (const name of namesIn(path)) {
    // Else it would be set aside again with every look.
    if (IS_SET_ASIDE.test(name)) continue;
    const child = join(path, name);
    const childStats = lstatSync(child, { throwIfNoEntry: false });
    const found = childStats === undefined ? undefined : findUnapproved(child, childStats, inside);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** With a second name it could be changed by that name later, where this one is held. */
function isUnchanged(path: string, stats: Stats, file: ApprovedFile): boolean {
  if (file.path !== path || !stats.isFile() || stats.nlink !== 1 || stats.size !== file.size) return false;
  try {
    return hashOf(readFileSync(path)) === file.sha256;
  } catch {
    return false;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
