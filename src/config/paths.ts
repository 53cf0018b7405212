/** Paths in a configuration are relative to its file; without a file, to the folder of the command. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Config } from './schema.js';

export function resolvePath(path: string, baseDir: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return resolve(baseDir, path);
}

export function resolveToolPaths(config: Pick<Config, 'tools'>, baseDir: string): string[] {
  return config.tools.paths.map((path) => resolvePath(path, baseDir));
}

/** The folder of an agent; by default the one that `start` ran in. */
export function resolveModelCwd(
  model: { cwd?: string },
  folders: { baseDir: string; startDir: string },
): string {
  return model.cwd === undefined ? folders.startDir : resolvePath(model.cwd, folders.baseDir);
}
