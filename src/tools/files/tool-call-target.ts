/**
 * The file that a call is about, resolved once. A call is judged, shown to a person and run at
 * different times, and links may change in between: all three work on the place that was found
 * first, and what is shown is remembered so that nothing else is replaced.
 */
import { opendir } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import * as z from 'zod';
import type { Effect } from '../../permissions/decision.js';
import type { Description } from '../../permissions/gate.js';
import { errorCode, FileError } from '../../workspace/file-error.js';
import type { FileVersion } from '../../workspace/file-state.js';
import { realTarget } from '../../workspace/real-path.js';
import { displayPath, resolvePath } from '../../workspace/workspace.js';
import type { ToolContext } from '../runtime/context.js';
import { ToolError } from '../runtime/tool.js';

export interface ToolCallTarget {
  /** Absolute, as the model meant it. */
  readonly path: string;
  /** Where it really leads. */
  readonly real: string;
  /** The state that the call was first planned on. */
  shown?: FileVersion | 'absent';
}

/** A context lives as long as its call, and so does what is kept for it. */
const targets = new WeakMap<ToolContext, Map<string, ToolCallTarget>>();

export function targetOf(given: string, context: ToolContext): ToolCallTarget {
  let known = targets.get(context);
  if (known === undefined) {
    known = new Map();
    targets.set(context, known);
  }
  let target = known.get(given);
  if (target === undefined) {
    const path = resolvePath(given, { cwd: context.session.cwd, home: context.workspace.home });
    target = { path, real: realTarget(path) };
    known.set(given, target);
  }
  return target;
}

/** Both names of a file that is reached through a link: a rule may be about either. */
export function effectsOn({ path, real }: ToolCallTarget, kind: 'read' | 'edit', tree = false): Effect[] {
  const paths = path === real ? [real] : [path, real];
  return paths.map((each) =>
    kind === 'edit' ? { kind, path: each } : { kind, path: each, ...(tree ? { tree } : {}) },
  );
}

/** For people and for results: short where it lies in the workspace. */
export function shortPath({ path }: Pick<ToolCallTarget, 'path'>, context: ToolContext): string {
  return displayPath(path, resolve(context.workspace.root));
}

export function describeTarget(
  verb: string,
  kind: Description['kind'],
  target: ToolCallTarget,
  context: ToolContext,
): Description {
  const detail = target.real === target.path ? {} : { detail: `Leads to ${target.real}` };
  return { title: `${verb} ${shortPath(target, context)}`, kind, paths: [target.path], ...detail };
}

/** The kernel takes no longer path. */
const LONGEST_PATH = 4096;

export function pathInput(description: string): z.ZodString {
  return z
    .string()
    .min(1)
    .max(LONGEST_PATH)
    .regex(/^[^\0]*$/, 'a path has no NUL bytes')
    .describe(description);
}

/** Runs `work`; a FileError comes out as a ToolError, anything else as it is. */
export async function forModel<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toToolError(error);
  }
}

export function toToolError(error: unknown): unknown {
  if (!(error instanceof FileError)) return error;
  return new ToolError(error.message, { cause: error, data: { problem: error.problem, path: error.path } });
}

const MAX_NAMES = 2000;
const MAX_SUGGESTIONS = 3;

/** Only files that may be read are suggested. */
export async function missingFile(target: ToolCallTarget, context: ToolContext): Promise<ToolError> {
  const folder = dirname(target.path);
  const names = await namesIn(folder);
  if (names === undefined) {
    return new ToolError(
      `${target.path} does not exist, and neither does its folder. Paths that are not absolute are taken from ${context.session.cwd}.`,
    );
  }
  const wanted = basename(target.path);
  const similar = names
    .map((name) => ({ name, distance: distanceOf(name, wanted) }))
    .filter(({ distance }) => distance !== undefined)
    .toSorted((a, b) => (a.distance ?? 0) - (b.distance ?? 0))
    .map(({ name }) => join(folder, name))
    .filter((path) => context.readable(path))
    .slice(0, MAX_SUGGESTIONS);
  const hint =
    similar.length === 0 ? 'Look for it with Glob or LS.' : `Did you mean ${similar.join(' or ')}?`;
  return new ToolError(`${target.path} does not exist. ${hint}`);
}

/** `undefined` where there is no such folder. */
async function namesIn(folder: string): Promise<string[] | undefined> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) {
      names.push(name);
      if (names.length === MAX_NAMES) break;
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    if (errorCode(error) === undefined) throw error;
  }
  return names;
}

/** How far two names are apart; nothing where they have nothing to do with each other. */
function distanceOf(name: string, wanted: string): number | undefined {
  const a = name.normalize('NFC').toLowerCase();
  const b = wanted.normalize('NFC').toLowerCase();
  if (a === b) return 0;
  if (stem(a) === stem(b)) return 1;
  const most = Math.max(1, Math.floor(b.length / 4));
  const distance = editDistance(a, b, most);
  return distance <= most ? distance + 1 : undefined;
}

function stem(name: string): string {
  return name.slice(0, name.length - extname(name).length);
}

/** Levenshtein's, given up beyond `most`. */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution));
    }
    row = next;
  }
  return row[b.length] ?? most + 1;
}
