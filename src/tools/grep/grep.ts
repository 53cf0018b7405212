/** Searches the contents of files with ripgrep. */
import { ripgrepEnablement } from '../../workspace/ripgrep.js';
import { effectsOn } from '../files/tool-call-target.js';
import type { ToolContext } from '../runtime/context.js';
import type { Tool } from '../runtime/tool.js';
import { GREP_LIMITS, type GrepInput, grepInput } from './input.js';
import { pageOf } from './page.js';
import { search } from './search.js';
import { searchedPlace } from './search-target.js';

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
