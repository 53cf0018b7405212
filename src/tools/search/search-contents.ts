/**
 * What Grep is asked, and the search itself. Ripgrep works on all cores and so finds files in any
 * order: everything is collected and put in order, which makes pages of it fit together. Where there
 * is too much of it, it is asked again for the paths in order, and stopped when the page is full.
 */
import * as z from 'zod';
import {
  EXCLUDED_GLOBS,
  type RipgrepOutcome,
  runRipgrep,
  SEARCH_FLAGS,
  SEARCH_LIMITS,
} from '../../workspace/ripgrep.js';
import { printableName } from '../runtime/clean-text.js';
import type { ToolContext } from '../runtime/context.js';
import { namingOf, openTarget, type SearchTarget, searchedPlace, searchNotes } from './search-target.js';

export const GREP_LIMITS = {
  headLimit: 250,
  context: 1000,
} as const;

const lines = z.coerce.number().int().min(0).max(GREP_LIMITS.context).optional();

export const grepInput = z.object({
  pattern: z.string().min(1).describe('The regular expression to search for (syntax of ripgrep)'),
  path: z.string().optional().describe('File or folder to search; by default the current folder'),
  glob: z.string().optional().describe('Only files that match, for example "*.js" or "*.{ts,tsx}"'),
  type: z.string().optional().describe('Only files of this type: js, py, rust, go, java…'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .optional()
    .describe(
      'content: the lines; files_with_matches: paths (the default); count: matching lines of each file',
    ),
  '-A': lines.describe('With content: lines after each match'),
  '-B': lines.describe('With content: lines before each match'),
  '-C': lines.describe('The same as context'),
  context: lines.describe('With content: lines before and after each match'),
  '-n': z.boolean().optional().describe('With content: line numbers; true by default'),
  '-i': z.boolean().optional().describe('Upper and lower case are the same'),
  '-o': z.boolean().optional().describe('With content: only the parts that match'),
  multiline: z.boolean().optional().describe('A match may span lines, and . matches line ends'),
  head_limit: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe(`At most so many lines or paths: ${GREP_LIMITS.headLimit} by default, 0 for as many as fit`),
  offset: z.coerce.number().int().min(0).optional().describe('Leave out so many lines or paths at first'),
});

export type GrepInput = z.infer<typeof grepInput>;

interface FileMatches {
  /** As it is shown. */
  path: string;
  /** Of content: ready to be shown; of the other modes empty. */
  lines: readonly string[];
  /** Matching lines, where they are counted. */
  count: number;
}

/** Puts together what ripgrep prints about each file. */
interface Collector {
  /** One record as printed. Returns how many lines or paths there are by now. */
  take(record: string): number;
  lines(): number;
  fileCount(): number;
  /** Matching lines of all files, where they are counted. */
  matches(): number;
  /** The first `most` in the order of their paths; by default all. */
  files(most?: number): FileMatches[];
  /** In the order in which they came. */
  inOrder(): FileMatches[];
}

interface CollectorOptions {
  mode: 'content' | 'files_with_matches' | 'count';
  numbers: boolean;
  /** The path to show; undefined where the rules hide the file. */
  resolve(printed: string): string | undefined;
}

/** Between parts of one file that do not follow each other. */
const GAP = '--';

function createCollector({ mode, numbers, resolve }: CollectorOptions): Collector {
  const files = new Map<string, { path: string; lines: string[]; count: number }>();
  const hidden = new Set<string>();
  let total = 0;
  let gapIn: string | undefined;
  let last: string | undefined;
  let begun = '';

  const open = (printed: string): { path: string; lines: string[]; count: number } | undefined => {
    const known = files.get(printed);
    if (known !== undefined) return known;
    if (hidden.has(printed)) return undefined;
    const path = resolve(printed);
    if (path === undefined) {
      hidden.add(printed);
      return undefined;
    }
    const file = { path, lines: [], count: 0 };
    files.set(printed, file);
    return file;
  };

  const takeLine = (printed: string, rest: string): void => {
    const file = open(printed);
    if (file === undefined) return;
    // `12:` is a match, `12-` belongs to the lines around one.
    const [, number = '', mark = ':', text = ''] = /^(\d+)([:-])(.*)$/s.exec(rest) ?? [];
    if (gapIn === printed) {
      file.lines.push(GAP);
      total += 1;
    }
    gapIn = undefined;
    last = printed;
    file.lines.push(`${file.path}${mark}${numbers ? `${number}${mark}` : ''}${text.replace(/\r$/, '')}`);
    if (mark === ':') file.count += 1;
    total += 1;
  };

  return {
    take(record) {
      if (mode === 'files_with_matches') {
        if (open(record) !== undefined) total += 1;
        return total;
      }
      const end = record.indexOf('\0');
      if (end < 0) {
        // A path with a line end in it comes in two records.
        if (record === GAP) gapIn = last;
        else begun += `${record}\n`;
        return total;
      }
      const printed = begun + record.slice(0, end);
      begun = '';
      const rest = record.slice(end + 1);
      if (mode === 'content') takeLine(printed, rest);
      else {
        const file = open(printed);
        if (file !== undefined) {
          file.count = Number(rest);
          total += 1;
        }
      }
      return total;
    },
    lines: () => total,
    fileCount: () => files.size,
    matches: () => [...files.values()].reduce((sum, { count }) => sum + count, 0),
    inOrder: () => [...files.values()],
    files: (most) => firstByPath(files.values(), most ?? files.size),
  };
}

/** Most of a long list sorts after the last wanted entry: it is compared once and never sorted. */
export function firstByPath(files: Iterable<FileMatches>, most: number): FileMatches[] {
  const byPath = (a: FileMatches, b: FileMatches): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
  let kept: FileMatches[] = [];
  let last: string | undefined;
  for (const file of files) {
    if (last !== undefined && file.path > last) continue;
    kept.push(file);
    if (kept.length > most * 2) {
      kept = kept.sort(byPath).slice(0, most);
      last = kept.at(-1)?.path;
    }
  }
  return kept.sort(byPath).slice(0, most);
}

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
