/** A file that is not there, and which one may have been meant. */
import { opendir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { errorCode } from '../../workspace/file-error.js';
import type { ToolContext } from '../runtime/context.js';
import { ToolError } from '../runtime/tool.js';
import type { ToolCallTarget } from './tool-call-target.js';

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
