/** Finds files by the shape of their paths. */
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { ripgrepEnablement } from '../../workspace/ripgrep.js';
import { displayPath } from '../../workspace/workspace.js';
import { effectsOn, type ToolCallTarget, targetOf } from '../files/tool-call-target.js';
import { searchedPlace } from '../grep/search-target.js';
import { printableName } from '../runtime/clean-text.js';
import type { ToolContext } from '../runtime/context.js';
import type { Tool } from '../runtime/tool.js';
import { findFiles } from './find-files.js';

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
  effects: (input, context) => effectsOn(lookedIn(input, context).place, 'read', true),
  prompt: 'Find files by name with Glob.',
  describe: ({ pattern, path }, context) => ({
    title: `Find ${pattern}`,
    kind: 'search',
    paths: [searchedPlace(path, context).path],
  }),
  async *call(input, context) {
    const started = performance.now();
    const { place, glob } = lookedIn(input, context);
    const found = await findFiles(place, glob, context);
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
): { place: ToolCallTarget; glob: string } {
  const start = searchedPlace(path, context).path;
  const { folder, glob } = splitPattern(pattern, start, context.workspace.home);
  return { place: targetOf(folder, context), glob };
}
