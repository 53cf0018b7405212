/** Paths as models and people write them. */
import { isAbsolute, join, relative, resolve } from 'node:path';
import { isInside } from './real-path.js';

interface PathBase {
  /** Where relative paths start. */
  cwd: string;
  /** For `~/`. */
  home: string;
}

/** Absolute and without `.` and `..`; links in it are not resolved yet. */
export function resolvePath(given: string, { cwd, home }: PathBase): string {
  if (given === '~') return resolve(home);
  if (given.startsWith('~/')) return resolve(join(home, given.slice(2)));
  return isAbsolute(given) ? resolve(given) : resolve(cwd, given);
}

/** Relative to `root` where it lies inside; for people. */
export function displayPath(path: string, root: string): string {
  if (path === root || !isInside(root, path)) return path;
  return relative(root, path);
}
