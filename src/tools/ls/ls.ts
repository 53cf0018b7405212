/** Lists a folder and what is below it. */
import { lstat } from 'node:fs/promises';
import * as z from 'zod';
import { FileError } from '../../workspace/file-error.js';
import { pathInput } from '../files/file-input.js';
import { toToolError } from '../files/for-model.js';
import { missingFile } from '../files/missing-file.js';
import { describeTarget, effectsOn, targetOf } from '../files/tool-call-target.js';
import { printableName } from '../runtime/clean-text.js';
import { type Tool, ToolError } from '../runtime/tool.js';
import {
  type ListedEntry,
  type ListedFolder,
  type ListOptions,
  LS_LIMITS,
  listFolder,
} from './list-folder.js';

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
