/** The tree below a folder, level by level, so that a cap leaves out what lies deepest. */
import type { Dirent } from 'node:fs';
import { opendir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, FileError } from '../../workspace/file-error.js';
import { holdFolder } from '../../workspace/held-folder.js';

export const LS_LIMITS = {
  /** Entries of the whole tree. */
  entries: 1000,
  /** Names that are looked at in one folder; the rest is neither sorted nor shown. */
  namesPerFolder: 5000,
  /** Of a folder below the first, shown. */
  entriesPerFolder: 200,
  depth: 20,
} as const;

/** Shown, but not opened unless asked for: what is in them is rarely of interest and always a lot. */
const CLOSED: ReadonlySet<string> = new Set([
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  '__pycache__',
  '.venv',
  '.mypy_cache',
  '.pytest_cache',
  '.tox',
]);

export interface ListedFolder {
  entries: ListedEntry[];
  /** Entries left out; a lower bound where the folder was not read to its end. */
  more: number;
  /** Why its entries are not here. */
  unopened?: 'closed' | 'cap' | 'forbidden';
}

export type ListedEntry =
  | { kind: 'file' | 'special'; name: string }
  | { kind: 'link'; name: string; target: string }
  | { kind: 'folder'; name: string; folder: ListedFolder };

export interface ListOptions {
  /** Whether an entry is shown. */
  shown(relative: string, real: string, isFolder: boolean): boolean;
  signal: AbortSignal;
}

interface ListedTree {
  root: ListedFolder;
  count: number;
  capped: boolean;
}

/** Links are not followed. Throws FileError where the folder itself cannot be listed. */
export async function listFolder(real: string, options: ListOptions): Promise<ListedTree> {
  const root: ListedFolder = { entries: [], more: 0 };
  const queue = [{ folder: root, relative: '', depth: 0 }];
  let count = 0;
  let capped = false;
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
    const { folder, relative, depth } = item;
    options.signal.throwIfAborted();
    if (count >= LS_LIMITS.entries || depth > LS_LIMITS.depth) {
      folder.unopened = 'cap';
      capped = true;
      continue;
    }
    const read = await readFolder(join(real, relative), depth === 0);
    if (read === undefined) {
      folder.unopened = 'forbidden';
      continue;
    }
    const room = LS_LIMITS.entries - count;
    const most = depth === 0 ? room : Math.min(room, LS_LIMITS.entriesPerFolder);
    const visible = read.entries.filter((entry) =>
      options.shown(join(relative, entry.name), join(real, relative, entry.name), entry.isDirectory()),
    );
    folder.more = Math.max(0, visible.length - most) + read.unread;
    capped ||= folder.more > 0;
    for (const entry of visible.slice(0, most)) {
      const path = join(relative, entry.name);
      const listed = await listEntry(entry, join(real, path));
      folder.entries.push(listed);
      count += 1;
      if (listed.kind === 'folder' && listed.folder.unopened === undefined) {
        queue.push({ folder: listed.folder, relative: path, depth: depth + 1 });
      }
    }
  }
  return { root, count, capped };
}

/** `undefined` for a folder below the first that cannot be opened. */
async function readFolder(
  real: string,
  isFirst: boolean,
): Promise<{ entries: Dirent[]; unread: number } | undefined> {
  try {
    const held = await holdFolder(real);
    try {
      const entries: Dirent[] = [];
      let unread = 0;
      for await (const entry of await opendir(held.at('.'), { bufferSize: 256 })) {
        if (entries.length === LS_LIMITS.namesPerFolder) {
          unread = 1;
          break;
        }
        entries.push(entry);
      }
      entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
      return { entries, unread };
    } finally {
      await held.close();
    }
  } catch (error) {
    if (isFirst || (!(error instanceof FileError) && errorCode(error) === undefined)) throw error;
    return undefined;
  }
}

async function listEntry(entry: Dirent, real: string): Promise<ListedEntry> {
  const { name } = entry;
  if (entry.isSymbolicLink()) {
    return { kind: 'link', name, target: await readlink(real).catch(() => '?') };
  }
  if (entry.isDirectory()) {
    const folder: ListedFolder = { entries: [], more: 0 };
    if (CLOSED.has(name)) folder.unopened = 'closed';
    return { kind: 'folder', name, folder };
  }
  return { kind: entry.isFile() ? 'file' : 'special', name };
}
