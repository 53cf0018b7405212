/** Where a search looks, and how its findings are named. */
import { statSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { isInside, realTarget } from '../../workspace/real-path.js';
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

type Place = Pick<ToolContext, 'session'>;

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
export function namingOf({ folder }: SearchTarget, { session }: Place): Naming {
  const base = folder === '/' ? '/' : `${folder}/`;
  const inner = isInside(session.cwd, folder) ? relative(session.cwd, folder) : folder;
  const prefix = inner === '' ? '' : inner === '/' ? '/' : `${inner}/`;
  const name = (printed: string): string => (printed.startsWith('./') ? printed.slice(2) : printed);
  return { whole: (printed) => base + name(printed), shown: (printed) => prefix + name(printed) };
}
