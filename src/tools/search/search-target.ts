/** Where a search looks, and how its findings are named. */
import { statSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { isInside, realTarget } from '../../workspace/real-path.js';
import { type RipgrepOutcome, SEARCH_LIMITS } from '../../workspace/ripgrep.js';
import { type ToolCallTarget, targetOf } from '../files/tool-call-target.js';
import type { ToolContext } from '../runtime/context.js';
import { ToolError } from '../runtime/tool.js';

export interface SearchTarget {
  /** Where ripgrep runs. */
  folder: string;
  /** What it searches, from there. */
  operand: string;
  isFolder: boolean;
}

/** The same from the judging of a call to its run, whatever links lead there meanwhile. */
export function searchedPlace(path: string | undefined, context: ToolContext): ToolCallTarget {
  return targetOf(path === undefined || path === '' ? '.' : path, context);
}

/** Throws ToolError where there is nothing that can be searched. */
export function openTarget({ path, real }: ToolCallTarget): SearchTarget {
  if (realTarget(real) !== real) {
    throw new ToolError(
      `A folder on the way to ${path} was replaced by a link meanwhile, so it is not searched. Look at it with LS and try again.`,
    );
  }
  const stats = statSync(real, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new ToolError(`${path} does not exist. Look for the right path with Glob or LS.`);
  if (stats.isDirectory()) return { folder: real, operand: './', isFolder: true };
  if (!stats.isFile()) throw new ToolError(`${path} is neither a file nor a folder, and cannot be searched.`);
  return { folder: dirname(real), operand: `./${basename(real)}`, isFolder: false };
}

interface Naming {
  /** The whole path of what ripgrep printed. */
  whole(printed: string): string;
  /** From where the session's commands run, if it lies below; else whole. */
  shown(printed: string): string;
}

/** By joining texts: a search may find a hundred thousand. */
export function namingOf({ folder }: SearchTarget, { session }: Pick<ToolContext, 'session'>): Naming {
  const base = folder === '/' ? '/' : `${folder}/`;
  const inner = isInside(session.cwd, folder) ? relative(session.cwd, folder) : folder;
  const prefix = inner === '' ? '' : inner === '/' ? '/' : `${inner}/`;
  const name = (printed: string): string => (printed.startsWith('./') ? printed.slice(2) : printed);
  return { whole: (printed) => base + name(printed), shown: (printed) => prefix + name(printed) };
}

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
