/** Finds files by the shape of their paths. */
import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import {
  EXCLUDED_GLOBS,
  type RipgrepOutcome,
  ripgrepEnablement,
  runRipgrep,
  SEARCH_FLAGS,
  SEARCH_LIMITS,
} from '../../workspace/ripgrep.js';
import { displayPath } from '../../workspace/workspace.js';
import { effectsOn, type ToolCallTarget, targetOf } from '../files/tool-call-target.js';
import { printableName } from '../runtime/clean-text.js';
import type { ToolContext } from '../runtime/context.js';
import { type Tool, ToolError } from '../runtime/tool.js';
import { namingOf, openTarget, type SearchTarget, searchedPlace, searchNotes } from './search-target.js';

interface FoundFiles {
  paths: readonly string[];
  complete: boolean;
  notes: readonly string[];
}

/** More than this are not put in the order of their times. */
const MAX_TIMES = 50_000;
const TIMES_AT_ONCE = 64;

/**
 * In two runs, because a glob on the command line of ripgrep stands above ignore files: what
 * matches, and what of that is still there without the glob.
 */
async function findFiles(searched: ToolCallTarget, glob: string, context: ToolContext): Promise<FoundFiles> {
  const target = openTarget(searched);
  if (!target.isFolder)
    throw new ToolError(`${searched.path} is a file. Give the folder that it is in as path.`);
  const naming = namingOf(target, context);
  const matching = new Set<string>();
  const first = await list(target, [`--glob=${glob}`], context, (printed) => {
    matching.add(printed);
    return true;
  });
  const readable: string[] = [];
  let left = matching.size;
  const second =
    left === 0
      ? first
      : await list(target, [], context, (printed) => {
          if (!matching.has(printed)) return true;
          left -= 1;
          const path = naming.whole(printed);
          if (context.readable(path)) readable.push(path);
          return left > 0;
        });
  const mayShow = (printed: string): boolean => context.readable(naming.whole(printed));
  const notes = [first, second].flatMap((outcome) => searchNotes(outcome, readable.length, mayShow));
  const overflow = [first, second].some(({ ended }) => ended === 'overflow');
  if (overflow) notes.push('There are too many files to look at all of them. Narrow the path.');
  const { paths, note } = await newestFirst(readable);
  return { paths, complete: !overflow, notes: [...new Set([...notes, ...note])] };
}

async function list(
  target: SearchTarget,
  flags: readonly string[],
  context: ToolContext,
  onRecord: (printed: string) => boolean,
): Promise<RipgrepOutcome> {
  return await runRipgrep({
    args: ['--files', '--null', ...SEARCH_FLAGS, ...flags, ...EXCLUDED_GLOBS, '--', target.operand],
    cwd: target.folder,
    signal: context.signal,
    timeoutMs: SEARCH_LIMITS.timeoutMs,
    maxBytes: SEARCH_LIMITS.namesBytes,
    separator: '\0',
    onRecord,
  });
}

async function newestFirst(paths: readonly string[]): Promise<{ paths: string[]; note: string[] }> {
  const byName = [...paths].sort();
  if (paths.length > MAX_TIMES)
    return { paths: byName, note: ['Too many to order by time: in the order of their paths.'] };
  const times = new Map<string, number>();
  const next = byName.values();
  const work = async (): Promise<void> => {
    for (const path of next) times.set(path, await timeOf(path));
  };
  await Promise.all(Array.from({ length: Math.min(TIMES_AT_ONCE, byName.length) }, work));
  return { paths: byName.sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0)), note: [] };
}

/** One that is gone meanwhile comes last. */
function timeOf(path: string): Promise<number> {
  return lstat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

/** A pattern that names where it looks is a folder and the rest. */
interface SplitPattern {
  folder: string;
  /** For ripgrep, from `folder`. */
  glob: string;
}

const SPECIAL = /[*?[\]{}!\\]/;

function splitPattern(pattern: string, folder: string, home: string): SplitPattern {
  const given = pattern.startsWith('~/') ? join(home, pattern.slice(2)) : pattern.replace(/^(?:\.\/)+/, '');
  if (!given.startsWith('/') && !given.startsWith('../')) {
    return { folder, glob: given.startsWith('!') ? `\\${given}` : given };
  }
  const names = given.split('/');
  const first = names.findIndex((name) => SPECIAL.test(name));
  const cut = first < 0 ? names.length - 1 : first;
  // A slash in front binds it to the folder: without one a single name would match at any depth.
  return {
    folder: resolve(folder, names.slice(0, cut).join('/') || '/'),
    glob: `/${names.slice(cut).join('/')}`,
  };
}

const GLOB_LIMITS = { files: 100 } as const;

const inputSchema = z.object({
  pattern: z.string().min(1).max(4096).describe('For example "**/*.ts" or "src/**/*.{js,jsx}"'),
  path: z.string().optional().describe('The folder to look in; by default the current one'),
});

type GlobInput = z.infer<typeof inputSchema>;

export const globTool: Tool<GlobInput> = {
  name: 'Glob',
  userFacingName: () => 'Find files',
  description: `Finds files by a pattern of their path, newest first, at most ${GLOB_LIMITS.files}. A pattern without a slash matches names at any depth. Ignored files (.gitignore, .ignore) are left out, hidden ones are not.`,
  inputSchema,
  isEnabled: ripgrepEnablement,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  needsPermissions: () => true,
  effects: (input, context) => effectsOn(lookedIn(input, context).searched, 'read', true),
  prompt: 'Find files by name with Glob.',
  describe: ({ pattern, path }, context) => ({
    title: `Find ${pattern}`,
    kind: 'search',
    paths: [searchedPlace(path, context).path],
  }),
  async *call(input, context) {
    const started = performance.now();
    const { searched, glob } = lookedIn(input, context);
    const found = await findFiles(searched, glob, context);
    const shown = found.paths
      .slice(0, GLOB_LIMITS.files)
      .map((each) => printableName(displayPath(each, context.session.cwd)));
    const more = found.paths.length > shown.length;
    const notes = [...found.notes];
    if (found.paths.length === 0) notes.unshift('No files found.');
    if (more) {
      notes.unshift(
        `The ${shown.length} newest of ${found.paths.length} files. Narrow the pattern or the path to see others.`,
      );
    }
    yield {
      type: 'result',
      resultForAssistant: [shown.join('\n'), ...notes.map((note) => `[${note}]`)]
        .filter((part) => part !== '')
        .join('\n\n'),
      data: {
        filenames: shown,
        numFiles: shown.length,
        truncated: more,
        totalMatches: found.paths.length,
        countIsComplete: found.complete,
        durationMs: Math.round(performance.now() - started),
      },
    };
  },
};

/** A pattern may name a folder of its own. */
function lookedIn(
  { pattern, path }: GlobInput,
  context: ToolContext,
): { searched: ToolCallTarget; glob: string } {
  const start = searchedPlace(path, context).path;
  const { folder, glob } = splitPattern(pattern, start, context.workspace.home);
  return { searched: targetOf(folder, context), glob };
}
