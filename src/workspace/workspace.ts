/** The folder that an agent works in (the operator's choice, never the model's or the repository's), and paths in it. */
import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { GatewayError } from '../core/errors.js';
import { errorCode } from './file-error.js';
import { isInside, realTarget } from './real-path.js';

export interface Workspace {
  /** The real path of the root: no links left in it. */
  readonly root: string;
  /** The person's home, for `~/` in paths and rules. */
  readonly home: string;
}

/** Throws GatewayError where the folder is not there or is no folder. */
export function openWorkspace(root: string, home: string = homedir()): Workspace {
  const path = resolve(root);
  try {
    const real = realpathSync.native(path);
    if (statSync(real).isDirectory()) return Object.freeze({ root: real, home: realTarget(home) });
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    throw new GatewayError(
      'invalid_request',
      `The workspace ${path} cannot be opened (${errorCode(error)}). Create the folder, or set \`cwd\` to one that exists.`,
      { cause: error },
    );
  }
  throw new GatewayError(
    'invalid_request',
    `The workspace ${path} is not a folder. Set \`cwd\` to a folder.`,
  );
}

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
