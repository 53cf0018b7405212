/** Searches the contents of files with ripgrep. */
import { ripgrepEnablement } from '../../workspace/ripgrep.js';
import { effectsOn } from '../files/tool-call-target.js';
import type { ToolContext } from '../runtime/context.js';
import type { Tool } from '../runtime/tool.js';
import { type Found, GREP_LIMITS, type GrepInput, grepInput, search } from './search-contents.js';
import { searchedPlace } from './search-target.js';

/** A result of a tool has 30,000; the notes need some. */
const MAX_CHARS = 28_000;

type Mode = 'content' | 'files_with_matches' | 'count';

interface GrepData {
  mode: Mode;
  filenames: string[];
  numFiles: number;
  numLines?: number;
  numMatches?: number;
  content?: string;
  appliedLimit?: number;
  appliedOffset?: number;
}

interface Page {
  text: string;
  data: GrepData;
}

function pageOf(found: Found, { limit, offset }: { limit: number; offset: number }, mode: Mode): Page {
  const entries = entriesOf(found, mode);
  const total = mode === 'content' ? entries.length : found.fileCount;
  const wanted = entries.slice(offset, limit === 0 ? undefined : offset + limit);
  const shown = fitting(wanted);
  const next = offset + shown.length;
  const more = next < total;
  const text = shown.join('\n');
  const notes = [
    ...pageNotes(found, mode, { offset, shown: shown.length, next, more, total }),
    ...found.notes,
  ];
  const filenames = found.files.map(({ path }) => path);
  return {
    text: [text, ...notes.map((note) => `[${note}]`)].filter((part) => part !== '').join('\n\n'),
    data: {
      mode,
      filenames: mode === 'files_with_matches' ? shown : filenames.slice(0, shown.length),
      numFiles: found.fileCount,
      ...(mode === 'content' ? { content: text, numLines: shown.length } : {}),
      ...(mode === 'count' ? { content: text, numMatches: found.matches } : {}),
      ...(more ? { appliedLimit: shown.length } : {}),
      ...(offset > 0 ? { appliedOffset: offset } : {}),
    },
  };
}

function entriesOf({ files, withContext }: Found, mode: Mode): string[] {
  switch (mode) {
    case 'files_with_matches':
      return files.map(({ path }) => path);
    case 'count':
      return files.map(({ path, count }) => `${path}:${count}`);
    case 'content':
      return files.flatMap(({ lines }, index) => (withContext && index > 0 ? ['--', ...lines] : lines));
  }
}

function fitting(entries: readonly string[]): string[] {
  let chars = 0;
  let count = 0;
  for (const entry of entries) {
    chars += entry.length + 1;
    if (chars > MAX_CHARS && count > 0) break;
    count += 1;
  }
  return entries.slice(0, count);
}

const UNITS: Readonly<Record<Mode, string>> = {
  content: 'lines',
  files_with_matches: 'files',
  count: 'files',
};

function pageNotes(
  { fileCount, matches, complete }: Found,
  mode: Mode,
  page: { offset: number; shown: number; next: number; more: boolean; total: number },
): string[] {
  const unit = UNITS[mode];
  const total = complete ? `${page.total}` : `more than ${page.total - 1}`;
  if (page.total === 0) return ['No matches found.'];
  if (page.shown === 0) return [`There are only ${total} ${unit}; offset ${page.offset} is behind them.`];
  const notes: string[] = [];
  if (mode === 'count' && complete) notes.push(`${matches} matching lines in ${fileCount} files.`);
  if (page.more) {
    notes.push(
      `${unit} ${page.offset + 1} to ${page.next} of ${total}. Go on with offset: ${page.next}, or narrow the search.`,
    );
  } else if (page.offset > 0)
    notes.push(`${unit} ${page.offset + 1} to ${page.next} of ${total}: the last ones.`);
  return notes;
}

export const grepTool: Tool<GrepInput> = {
  name: 'Grep',
  userFacingName: () => 'Search',
  description: `Searches the contents of files with ripgrep: regular expressions, three output modes, filters by glob and type.
Ignored files (.gitignore, .ignore) are left out, hidden ones are not. Results come in the order of their paths, ${GREP_LIMITS.headLimit} at a time; offset gives the next ones. Literal braces need a backslash: interface\\{\\}.`,
  inputSchema: grepInput,
  isEnabled: ripgrepEnablement,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  needsPermissions: () => true,
  effects: ({ path }, context) => effectsOn(searchedPlace(path, context), 'read', true),
  prompt: 'Search in files with Grep; it knows regular expressions, globs and types, and is fast.',
  describe: (input, context) => describe(input, context),
  async *call(input, context) {
    const limit = input.head_limit ?? GREP_LIMITS.headLimit;
    const offset = input.offset ?? 0;
    const found = await search(input, context, { limit, offset });
    const page = pageOf(found, { limit, offset }, input.output_mode ?? 'files_with_matches');
    yield { type: 'result', resultForAssistant: page.text, data: page.data };
  },
};

function describe(
  { pattern, path, glob, type }: GrepInput,
  context: ToolContext,
): ReturnType<Tool<GrepInput>['describe']> {
  const { path: target } = searchedPlace(path, context);
  const filters = [glob === undefined ? [] : `glob ${glob}`, type === undefined ? [] : `type ${type}`].flat();
  return {
    title: `Search for ${pattern}`,
    kind: 'search',
    paths: [target],
    ...(filters.length === 0 ? {} : { detail: filters.join(', ') }),
  };
}
