/** Finds and reads the configuration. Nothing here goes over the network. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConfigError, type Locate } from './config-error.js';
import { DEFAULTS } from './defaults.js';
import type { Environment } from './environment-references.js';
import { configFromEnvironment, findInEnvironment, type Notice } from './from-environment.js';
import { type Overrides, parseConfig } from './parse.js';
import { userConfigFolder } from './paths.js';
import type { Config } from './schema.js';
import { type FoundConfig, readFoundConfig, type Standing, standingOf } from './trust.js';

/**
 * Who answers for a configuration. `given`: named on the command line; `folder`: found in the
 * working folder and trusted; `user`: in the user's own configuration folder.
 */
export type ConfigOrigin = 'given' | 'folder' | 'user' | 'environment';

export interface LoadedConfig {
  config: Config;
  /** Absolute; undefined where there is none and the environment was used. */
  file: string | undefined;
  origin: ConfigOrigin;
  /** What paths in the configuration are relative to. */
  baseDir: string;
  /** Values that must never be printed or logged, for `createRedactor`. */
  secrets: readonly string[];
  notices?: readonly Notice[];
  /** For what only later checks can find wrong in the file. */
  locate?: Locate;
}

interface LoadOptions {
  /** `--config`; it must exist. */
  file?: string | undefined;
  cwd: string;
  env: Environment;
  overrides?: Overrides;
  /**
   * Called with a file in the working folder that is not trusted. True: it was trusted just now, and
   * what was read of it is loaded. Else nothing of it is used, and the next file is looked for.
   */
  onUntrusted?: (found: FoundConfig, standing: Exclude<Standing, { kind: 'trusted' }>) => Promise<boolean>;
  /** Whether the engine claude-code can be used, for the models that there are without a file. */
  claudeCode?: () => Promise<boolean>;
}

export const CONFIG_FILE = 'toolgate.yaml';
/** In the package, for editors. */
export const SCHEMA_FILE = 'toolgate.schema.json';

/** Throws ConfigError for a file that is missing, unreadable or wrong. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { cwd, env, overrides = {} } = options;
  const found = await findConfig(options);
  if (found !== undefined) {
    const { file, source, origin } = found;
    return loadConfigText(source, { file, origin, baseDir: dirname(file), env, overrides });
  }
  const server = {
    host: overrides.host ?? DEFAULTS.server.host,
    port: overrides.port ?? DEFAULTS.server.port,
  };
  const environment = findInEnvironment(env, server);
  const claudeCode = (await options.claudeCode?.()) ?? false;
  const parsed = parseConfig(configFromEnvironment(environment, { claudeCode }), { env, overrides });
  return {
    ...parsed,
    file: undefined,
    origin: 'environment',
    baseDir: cwd,
    notices: environment.notices,
  };
}

interface TextOptions {
  /** For messages. */
  file?: string | undefined;
  /** By default `given`. */
  origin?: ConfigOrigin;
  baseDir: string;
  env: Environment;
  overrides?: Overrides;
}

/** The same for a text that was read elsewhere. */
export async function loadConfigText(source: string, options: TextOptions): Promise<LoadedConfig> {
  const { file, origin = 'given', baseDir, env, overrides = {} } = options;
  // Loaded only when there is a file: the parser is a good part of the start-up time.
  const { parseConfigDocument } = await import('./yaml-document.js');
  const document = parseConfigDocument(source, file);
  const parsed = parseConfig(document.value, { env, file, locate: document.locate, overrides });
  return { ...parsed, file, origin, baseDir, locate: document.locate };
}

interface Found {
  file: string;
  source: string;
  origin: ConfigOrigin;
}

async function findConfig({ file, cwd, env, onUntrusted }: LoadOptions): Promise<Found | undefined> {
  if (file !== undefined) return readAs('given', resolve(cwd, file));
  const [local, user] = candidateFiles(cwd, env);
  const found = local === user ? undefined : await readLocal(local);
  if (found !== undefined) {
    const standing = await standingOf(found, env);
    const trusted = standing.kind === 'trusted' || (await onUntrusted?.(found, standing)) === true;
    if (trusted && found.content.kind === 'text') {
      return { file: local, source: found.content.source, origin: 'folder' };
    }
  }
  const stats = await stat(user).catch(() => undefined);
  return stats === undefined || stats.isDirectory() ? undefined : readAs('user', user);
}

async function readLocal(file: string): Promise<FoundConfig | undefined> {
  try {
    return await readFoundConfig(file);
  } catch (error) {
    throw readError(file, error);
  }
}

/** Where a file is looked for without `--config`, in order: in the working folder, and the user's own. */
export function candidateFiles(cwd: string, env: Environment): [local: string, user: string] {
  return [join(cwd, CONFIG_FILE), join(userConfigFolder(env), CONFIG_FILE)];
}

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; `init` writes one',
  EISDIR: 'this is a folder; expected a file',
  EACCES: 'this file may not be read; check its permissions',
};

async function readAs(origin: ConfigOrigin, file: string): Promise<Found> {
  try {
    return { file, origin, source: await readFile(file, 'utf8') };
  } catch (error) {
    throw readError(file, error);
  }
}

function readError(file: string, error: unknown): ConfigError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = READ_ERRORS[code] ?? `this file cannot be read (${code || 'unknown error'})`;
  return new ConfigError(file, [{ path: '', message }]);
}
