/** The folders of the user that outlive a working folder, as the XDG base directory specification has them. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from './environment-references.js';

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
