/** Finds and reads the configuration. Nothing here goes over the network. */
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { ConfigError, type Locate } from './config-error.js';
import { DEFAULTS } from './defaults.js';
import type { Environment } from './environment-references.js';
import { configFromEnvironment, findInEnvironment, type Notice } from './from-environment.js';
import { type Overrides, parseConfig } from './parse.js';
import type { Config } from './schema.js';

export interface LoadedConfig {
  config: Config;
  /** Absolute; undefined where there is none and the environment was used. */
  file: string | undefined;
  /** What paths in the configuration are relative to. */
  baseDir: string;
  /** Values that must never be printed or logged, for `createRedactor`. */
  secrets: readonly string[];
  notices?: readonly Notice[];
  /** For what only later checks can find wrong in the file. */
  locate?: Locate;
}

export interface LoadOptions {
  /** `--config`; it must exist. */
  file?: string | undefined;
  cwd: string;
  env: Environment;
  overrides?: Overrides;
}

export const CONFIG_FILE = 'toolgate.yaml';
/** In the package, for editors. */
export const SCHEMA_FILE = 'toolgate.schema.json';

/** Throws ConfigError for a file that is missing, unreadable or wrong. */
export async function loadConfig({ file, cwd, env, overrides = {} }: LoadOptions): Promise<LoadedConfig> {
  const found = file === undefined ? await discover(cwd, env) : resolve(cwd, file);
  if (found !== undefined) {
    return loadConfigText(await readConfigFile(found), {
      file: found,
      baseDir: dirname(found),
      env,
      overrides,
    });
  }
  const server = {
    host: overrides.host ?? DEFAULTS.server.host,
    port: overrides.port ?? DEFAULTS.server.port,
  };
  const environment = findInEnvironment(env, server);
  const parsed = parseConfig(configFromEnvironment(environment), { env, overrides });
  return { ...parsed, file: undefined, baseDir: cwd, notices: environment.notices };
}

export interface TextOptions {
  /** For messages. */
  file?: string | undefined;
  baseDir: string;
  env: Environment;
  overrides?: Overrides;
}

/** The same for a text that was read elsewhere. */
export async function loadConfigText(source: string, options: TextOptions): Promise<LoadedConfig> {
  const { file, baseDir, env, overrides = {} } = options;
  // Loaded only when there is a file: the parser is a good part of the start-up time.
  const { parseConfigDocument } = await import('./yaml-document.js');
  const document = parseConfigDocument(source, file);
  const parsed = parseConfig(document.value, { env, file, locate: document.locate, overrides });
  return { ...parsed, file, baseDir, locate: document.locate };
}

async function discover(cwd: string, env: Environment): Promise<string | undefined> {
  for (const candidate of candidateFiles(cwd, env)) {
    const found = await stat(candidate).catch(() => undefined);
    if (found !== undefined && !found.isDirectory()) return candidate;
  }
  return undefined;
}

/** Where a file is looked for without `--config`, in order. */
export function candidateFiles(cwd: string, env: Environment): string[] {
  const xdg = env['XDG_CONFIG_HOME'];
  // A relative XDG_CONFIG_HOME is to be ignored, says its specification.
  const folder = xdg !== undefined && isAbsolute(xdg) ? xdg : join(env['HOME'] || homedir(), '.config');
  return [join(cwd, CONFIG_FILE), join(folder, 'toolgate', CONFIG_FILE)];
}

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; `init` writes one',
  EISDIR: 'this is a folder; expected a file',
  EACCES: 'this file may not be read; check its permissions',
};

async function readConfigFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const message = READ_ERRORS[code] ?? `this file cannot be read (${code || 'unknown error'})`;
    throw new ConfigError(file, [{ path: '', message }]);
  }
}
