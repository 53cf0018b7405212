/** The tree below a folder, level by level, so that a cap leaves out what lies deepest. */
import type { Dirent } from 'node:fs';
import { lstat, opendir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { errorCode, FileError } from '../../workspace/file-error.js';
import { holdFolder } from '../../workspace/regular-file.js';
import { printableName } from '../runtime/clean-text.js';
import { type Tool, ToolError } from '../runtime/tool.js';
import {
  describeTarget,
  effectsOn,
  missingFile,
  pathInput,
  targetOf,
  toToolError,
} from './tool-call-target.js';

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

interface ListedFolder {
  entries: ListedEntry[];
  /** Entries left out; a lower bound where the folder was not read to its end. */
  more: number;
  /** Why its entries are not here. */
  unopened?: 'closed' | 'cap' | 'forbidden';
}

type ListedEntry =
  | { kind: 'file' | 'special'; name: string }
  | { kind: 'link'; name: string; target: string }
  | { kind: 'folder'; name: string; folder: ListedFolder };

interface ListOptions {
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
async function listFolder(real: string, options: ListOptions): Promise<ListedTree> {
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

const inputSchema = z.strictObject({
  path: pathInput('The folder to list, best as an absolute path; left out: the current one.').optional(),
  ignore: z
    .array(z.string().min(1))
    .max(100)
    .optional()
    .describe('Patterns of names to leave out, as in .gitignore.'),
});

type LsInput = z.output<typeof inputSchema>;

export const lsTool: Tool<LsInput> = {
  name: 'LS',
  userFacingName: () => 'List',
  description:
    `Lists a folder with what is below it, up to ${LS_LIMITS.entries} entries. Links are shown and not followed. ` +
    'To find files by name use Glob, by content Grep.',
  inputSchema,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  needsPermissions: () => true,
  effects: ({ path = '.' }, context) => effectsOn(targetOf(path, context), 'read', true),
  prompt:
    'LS gives an overview of a folder. Prefer Glob and Grep when you know what you are looking for. Folders such as ' +
    '.git and node_modules are named but not opened unless they are asked for themselves.',
  describe: ({ path = '.' }, context) => describeTarget('List', 'read', targetOf(path, context), context),
  async *call({ path = '.', ignore = [] }, context) {
    const target = targetOf(path, context);
    const isIgnored = await matcherOf(ignore);
    const options: ListOptions = {
      shown: (relative, real, isFolder) =>
        !isIgnored(isFolder ? `${relative}/` : relative) && context.readable(real),
      signal: context.signal,
    };
    const tree = await listFolder(target.real, options).catch(async (error: unknown) => {
      if (!(error instanceof FileError)) throw error;
      if (error.problem !== 'missing') throw toToolError(error);
      throw await notAFolder(target.path, await missingFile(target, context));
    });
    const lines = [
      `- ${printableName(target.path)}${target.path.endsWith('/') ? '' : '/'}`,
      ...linesOf(tree.root, 1),
    ];
    if (tree.capped) {
      lines.push(
        '',
        `[${tree.count} entries are shown and some left out. List a folder below this one, or use Glob.]`,
      );
    }
    yield {
      type: 'result',
      resultForAssistant: lines.join('\n'),
      data: { path: target.path, count: tree.count, capped: tree.capped, root: tree.root },
    };
  },
  limits: { resultChars: 120_000 },
};

/** A file in place of the folder reads as missing to the kernel: `ENOTDIR`. */
async function notAFolder(path: string, missing: ToolError): Promise<ToolError> {
  const exists = await lstat(path).then(
    () => true,
    () => false,
  );
  return exists ? new ToolError(`${path} is not a folder. Read shows files.`) : missing;
}

async function matcherOf(patterns: readonly string[]): Promise<(relative: string) => boolean> {
  if (patterns.length === 0) return () => false;
  const { default: ignore } = await import('ignore');
  const rules = ignore().add([...patterns]);
  return (relative) => rules.ignores(relative);
}

function linesOf(folder: ListedFolder, depth: number): string[] {
  const indent = '  '.repeat(depth);
  const lines = folder.entries.flatMap((entry) => [
    `${indent}- ${entryLine(entry)}`,
    ...(entry.kind === 'folder' ? linesOf(entry.folder, depth + 1) : []),
  ]);
  if (folder.more > 0) lines.push(`${indent}- [${folder.more === 1 ? 'more' : `${folder.more} more`}]`);
  return lines;
}

const UNOPENED = { closed: '[not opened]', cap: '[not opened]', forbidden: '[cannot be opened]' } as const;

function entryLine(entry: ListedEntry): string {
  const name = printableName(entry.name);
  switch (entry.kind) {
    case 'file':
      return name;
    case 'special':
      return `${name} [neither file nor folder]`;
    case 'link':
      return `${name} -> ${printableName(entry.target)}`;
    case 'folder':
      return entry.folder.unopened === undefined ? `${name}/` : `${name}/ ${UNOPENED[entry.folder.unopened]}`;
  }
}
