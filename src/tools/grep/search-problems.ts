/** What is said when a search failed, or only half of it worked. */
import { type RipgrepOutcome, SEARCH_LIMITS } from '../../workspace/ripgrep.js';
import { ToolError } from '../runtime/tool.js';

/** Throws where nothing is known: a failed search must not look like one without a result. */
export function searchNotes(
  outcome: RipgrepOutcome,
  found: number,
  mayShow: (printed: string) => boolean,
): string[] {
  const { ended, code } = outcome;
  const messages = complaints(outcome.messages, mayShow);
  if (ended === 'aborted') throw new ToolError('The search was interrupted.');
  if (ended === 'failed') throw new ToolError(`The search could not be run: ${outcome.messages.trim()}`);
  if (ended === 'timed-out') {
    const after = `The search took longer than ${SEARCH_LIMITS.timeoutMs / 1000} s and was stopped`;
    const advice = 'Narrow it with path, glob or type, or a simpler pattern.';
    if (found === 0) throw new ToolError(`${after} before anything was found. ${advice}`);
    return [`${after}: there may be more. ${advice}`];
  }
  if (ended !== 'complete' || code === 0 || code === 1) return [];
  if (code === undefined) throw new ToolError(`The search broke off. ${messages}`.trim());
  if (found === 0) throw new ToolError(`The search failed. ${messages}`.trim());
  return [`Not everything could be searched. ${messages}`.trim()];
}

const MAX_LINES = 20;

/** Without paths that the rules hide, and without advice about flags that cannot be given. */
function complaints(messages: string, mayShow: (printed: string) => boolean): string {
  const lines = messages
    .trim()
    .split('\n')
    .map((line) => line.replace(/^rg: /, ''))
    .filter((line) => {
      const [, path] = /^(.+?): .*\(os error \d+\)$/.exec(line) ?? [];
      return path === undefined || mayShow(path);
    })
    .filter((line) => !/--pcre2|--multiline|PCRE2/.test(line));
  const shown = lines.slice(0, MAX_LINES).join('\n');
  const more = lines.length > MAX_LINES ? `\n(${lines.length - MAX_LINES} more)` : '';
  const hint = /look-around|backreferences/.test(messages)
    ? '\nLook-around and backreferences are not supported: search for something simpler.'
    : /the literal .*\\n.* is not allowed/.test(messages)
      ? '\nSet multiline to search across lines.'
      : '';
  return `${shown}${more}${hint}`;
}
