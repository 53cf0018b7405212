/**
 * Paths in a configuration are relative to its file; without a file, to the folder of the command.
 * The user's own folders are where the XDG base directory specification has them.
 */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Environment } from './environment-references.js';
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

/** The keys of a configuration, with the folders of each as whole paths. */
export function resolveKeys({ server }: Pick<Config, 'server'>, baseDir: string): Config['server']['keys'] {
  return server.keys.map((key) =>
    key.workspaces === undefined
      ? key
      : { ...key, workspaces: key.workspaces.map((path) => resolvePath(path, baseDir)) },
  );
}

const NAME = 'toolgate';

/** Where the user's own configuration is looked for. */
export function userConfigFolder(env: Environment): string {
  return folderOf(env, 'XDG_CONFIG_HOME', ['.config']);
}

/** What the gateway remembers for the user: which configurations and stores are trusted. */
export function userStateFolder(env: Environment): string {
  return folderOf(env, 'XDG_STATE_HOME', ['.local', 'state']);
}

/** A relative value is to be ignored, says the specification. */
function folderOf(env: Environment, variable: string, below: readonly string[]): string {
  const given = env[variable];
  const base = given !== undefined && isAbsolute(given) ? given : join(env['HOME'] || homedir(), ...below);
  return join(base, NAME);
}
