/**
 * Where a path really leads. Rules and tools both stand on this: what was judged is what is used.
 */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { join, parse, resolve, sep } from 'node:path';

/** As the kernel has it: more links than this in one path are a loop. */
const MAX_LINKS = 40;

/**
 * The real path of `path`, links in every part resolved. Of a path that does not exist yet, the
 * real path of the deepest ancestor that does, with the rest appended; a link that leads nowhere
 * is what it points to, since that is where a write would create the file. Never throws: a path
 * that cannot be looked at stays as it is from there on, and cannot be opened either.
 */
export function realTarget(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const absolute = resolve(path);
    return belowExisting(absolute) ?? walk(absolute);
  }
}

/** The usual case of a new file: only its last names are missing, and no link is among them. */
function belowExisting(path: string): string | undefined {
  try {
    let end = path.length;
    for (;;) {
      end = path.lastIndexOf(sep, end - 1);
      if (end <= 0) return undefined;
      const stats = lstatSync(path.slice(0, end), { throwIfNoEntry: false });
      if (stats === undefined) continue;
      const missing = path.slice(end);
      const first = missing.indexOf(sep, 1);
      const next = first === -1 ? path : path.slice(0, end + first);
      if (stats.isSymbolicLink() || lstatSync(next, { throwIfNoEntry: false }) !== undefined)
        return undefined;
      return realpathSync.native(path.slice(0, end)) + missing;
    }
  } catch {
    return undefined;
  }
}

/** Whether `path` is `root` or lies below it, by whole names. Both as `realTarget` gives them. */
export function isInside(root: string, path: string): boolean {
  const outer = resolve(root);
  const inner = resolve(path);
  if (inner === outer) return true;
  return inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function walk(path: string): string {
  const root = parse(path).root;
  let current = root;
  let links = 0;
  const names = split(path.slice(root.length));
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    // `current` has no links left in it, so that `..` of a link's target is its parent by name as well.
    const next = join(current, name);
    const target = links < MAX_LINKS ? linkTarget(next) : undefined;
    if (target === undefined) {
      current = next;
      continue;
    }
    links += 1;
    const targetRoot = parse(target).root;
    if (targetRoot !== '') current = targetRoot;
    names.push(...split(target.slice(targetRoot.length)));
  }
  return current;
}

/** Last name first, so that the next one is taken off the end. */
function split(path: string): string[] {
  return path
    .split(sep)
    .filter((name) => name !== '' && name !== '.')
    .reverse();
}

function linkTarget(path: string): string | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isSymbolicLink() === true ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
