/** Files that match a pattern and are not ignored, newest first. */
import { lstat } from 'node:fs/promises';
import {
  EXCLUDED_GLOBS,
  type RipgrepOutcome,
  runRipgrep,
  SEARCH_FLAGS,
  SEARCH_LIMITS,
} from '../../workspace/ripgrep.js';
import type { ToolCallTarget } from '../files/tool-call-target.js';
import { searchNotes } from '../grep/search-problems.js';
import { namingOf, openTarget, type SearchTarget } from '../grep/search-target.js';
import type { ToolContext } from '../runtime/context.js';
import { ToolError } from '../runtime/tool.js';

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
export async function findFiles(
  place: ToolCallTarget,
  glob: string,
  context: ToolContext,
): Promise<FoundFiles> {
  const target = openTarget(place);
  if (!target.isFolder)
    throw new ToolError(`${place.path} is a file. Give the folder that it is in as path.`);
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
