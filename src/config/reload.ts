/** The same file once more, for a gateway that runs. */
import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from './config-error.js';
import type { Environment } from './environment-references.js';
import { type LoadedConfig, loadConfig, loadConfigText } from './load.js';
import type { Overrides } from './parse.js';
import type { Config } from './schema.js';
import { readFoundConfig, standingOf } from './trust.js';

/**
 * Throws ConfigError for a file that is gone, wrong, or was found in a folder and has changed since it was trusted.
 * No other file is looked for: the gateway goes on with the one that it was started with.
 */
export async function reloadConfig(
  { file, origin, baseDir }: LoadedConfig,
  { env, overrides = {} }: { env: Environment; overrides?: Overrides | undefined },
): Promise<LoadedConfig> {
  if (file === undefined) {
    throw new ConfigError(undefined, [
      {
        path: '',
        message:
          'The gateway was started without a configuration file, so that there is nothing to take again. Write one with `toolgate init`, and restart.',
      },
    ]);
  }
  if (origin !== 'folder') return { ...(await loadConfig({ file, cwd: baseDir, env, overrides })), origin };
  const found = await readFoundConfig(file);
  if (found === undefined) throw new ConfigError(file, [{ path: '', message: 'there is no such file' }]);
  const { content } = found;
  if (content.kind !== 'text') throw new ConfigError(file, [{ path: '', message: content.why }]);
  if ((await standingOf(found, env)).kind !== 'trusted') {
    const message =
      'this file has changed since it was trusted. Read it, run `toolgate trust`, then reload again';
    throw new ConfigError(file, [{ path: '', message }]);
  }
  return loadConfigText(content.source, { file, origin, baseDir, env, overrides });
}

/** What a running gateway takes from a changed file. All else needs a restart. */
const TAKEN = [
  'server.keys',
  'teams',
  'upstreams',
  'models',
  'permissions.mode',
  'permissions.allow',
  'permissions.ask',
  'permissions.deny',
  'mcp_servers',
  'notify',
];

export interface ConfigChange {
  /** Key paths that differ and are taken. */
  changed: string[];
  /** Key paths that differ and need a restart. */
  restart: string[];
}

export function compareConfigs(before: Config, after: Config): ConfigChange {
  const differing = pathsOf(before, after);
  return {
    changed: differing.filter((path) => TAKEN.includes(path)),
    restart: differing.filter((path) => !TAKEN.includes(path)),
  };
}

/** Two levels deep for sections, of which some keys are taken and others not. */
const DIVIDED = ['server', 'permissions'];

function pathsOf(before: object, after: object, prefix = ''): string[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
    const [one, two]: unknown[] = [old.get(key), now.get(key)];
    if (isDeepStrictEqual(one, two)) return [];
    const isDivided = prefix === '' && DIVIDED.includes(key) && isSection(one) && isSection(two);
    return isDivided ? pathsOf(one, two, `${key}.`) : [`${prefix}${key}`];
  });
}

const isSection = (value: unknown): value is object => typeof value === 'object' && value !== null;
