/**
 * The search itself. Ripgrep works on all cores and so finds files in any order: everything is
 * collected and put in order, which makes pages of it fit together. Where there is too much of it,
 * it is asked again for the paths in order, and stopped when the page is full.
 */
import {
  EXCLUDED_GLOBS,
  type RipgrepOutcome,
  runRipgrep,
  SEARCH_FLAGS,
  SEARCH_LIMITS,
} from '../../workspace/ripgrep.js';
import { printableName } from '../runtime/clean-text.js';
import type { ToolContext } from '../runtime/context.js';
import { createCollector, type FileMatches } from './collect-matches.js';
import type { GrepInput } from './input.js';
import { searchNotes } from './search-problems.js';
import { namingOf, openTarget, type SearchTarget, searchedPlace } from './search-target.js';

export interface Found {
  /** In the order of their paths; not more than the page needs. */
  files: readonly FileMatches[];
  /** Of all, not only of these. */
  fileCount: number;
  matches: number;
  /** The search went to its end, so that counts are right. */
  complete: boolean;
  notes: readonly string[];
  withContext: boolean;
}

/** Longer lines are cut, and say so. */
const MAX_COLUMNS = 500;

/** Throws ToolError where the search failed. */
export async function search(
  input: GrepInput,
  context: ToolContext,
  page: { limit: number; offset: number },
): Promise<Found> {
  const target = openTarget(searchedPlace(input.path, context));
  const naming = namingOf(target, context);
  const run = async (sorted: boolean, most: number): Promise<Found & { ended: RipgrepOutcome['ended'] }> => {
    const collector = createCollector({
      mode: input.output_mode ?? 'files_with_matches',
      numbers: input['-n'] !== false,
      resolve: (printed) =>
        context.readable(naming.whole(printed)) ? printableName(naming.shown(printed)) : undefined,
    });
    const outcome = await runRipgrep({
      args: searchArguments(input, target, sorted),
      cwd: target.folder,
      signal: context.signal,
      timeoutMs: SEARCH_LIMITS.timeoutMs,
      maxBytes: sorted ? Number.POSITIVE_INFINITY : maxBytes(input),
      separator: input.output_mode === 'content' || input.output_mode === 'count' ? '\n' : '\0',
      onRecord: (record) => collector.take(record) < most,
    });
    const notes = searchNotes(outcome, collector.lines(), (printed) =>
      context.readable(naming.whole(printed)),
    );
    return {
      files: sorted
        ? collector.inOrder()
        : collector.files(input.output_mode === 'content' ? undefined : lastWanted(page)),
      matches: collector.matches(),
      fileCount: collector.fileCount(),
      complete: outcome.ended === 'complete',
      notes,
      withContext: contextFlags(input).length > 0,
      ended: outcome.ended,
    };
  };
  const found = await run(false, Number.POSITIVE_INFINITY);
  if (found.ended !== 'overflow') return found;
  return await run(true, lastWanted(page));
}

/** One more than the page has, to know whether there is a next one. */
function lastWanted({ limit, offset }: { limit: number; offset: number }): number {
  return offset + (limit === 0 ? MAX_UNLIMITED : limit) + 1;
}

/** Lines that `head_limit: 0` reads at most: no result has room for more. */
const MAX_UNLIMITED = 20_000;

function maxBytes({ output_mode }: GrepInput): number {
  return output_mode === 'content' ? SEARCH_LIMITS.linesBytes : SEARCH_LIMITS.namesBytes;
}

function searchArguments(input: GrepInput, target: SearchTarget, sorted: boolean): string[] {
  return [
    ...SEARCH_FLAGS,
    ...modeFlags(input),
    '--null',
    ...(sorted ? ['--sort', 'path'] : []),
    ...(input['-i'] === true ? ['--ignore-case'] : []),
    ...(input.multiline === true ? ['--multiline', '--multiline-dotall'] : []),
    ...(input.type === undefined ? [] : [`--type=${input.type}`]),
    ...globs(input.glob).map((glob) => `--glob=${glob}`),
    ...(target.isFolder ? EXCLUDED_GLOBS : []),
    `--regexp=${input.pattern}`,
    '--',
    target.operand,
  ];
}

function modeFlags(input: GrepInput): string[] {
  switch (input.output_mode) {
    case 'content':
      return [
        ...['--with-filename', '--no-heading', '--line-number'],
        `--max-columns=${MAX_COLUMNS}`,
        '--max-columns-preview',
        ...(input['-o'] === true ? ['--only-matching'] : []),
        ...contextFlags(input),
      ];
    case 'count':
      return ['--with-filename', '--count'];
    default:
      return ['--files-with-matches'];
  }
}

function contextFlags(input: GrepInput): string[] {
  if (input.output_mode !== 'content') return [];
  const around = input.context ?? input['-C'];
  const after = input['-A'] ?? around ?? 0;
  const before = input['-B'] ?? around ?? 0;
  return [
    ...(after > 0 ? [`--after-context=${after}`] : []),
    ...(before > 0 ? [`--before-context=${before}`] : []),
  ];
}

/** Models join several with spaces or commas; a comma in braces is part of one. */
export function globs(given: string | undefined): string[] {
  if (given === undefined) return [];
  return given
    .split(/\s+/)
    .flatMap((part) => (part.includes('{') ? [part] : part.split(',')))
    .filter((part) => part !== '');
}
