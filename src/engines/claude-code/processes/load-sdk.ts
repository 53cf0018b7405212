/**
 * The Agent SDK and the Claude Code that comes with it: hundreds of MB that the package does not carry.
 * It is found in `node_modules`, or where `toolgate add claude-code` installs it; loaded with the first
 * use, and its absence is an error that says how to get it.
 */
import { realpathSync } from 'node:fs';
import { access, constants, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { query } from '@anthropic-ai/claude-agent-sdk';
import type { Environment } from '../../../config/environment-references.js';
import { userStateFolder } from '../../../config/paths.js';
import { GatewayError } from '../../../core/errors.js';

export interface ClaudeSdk {
  query: typeof query;
}

export const SDK_PACKAGE = '@anthropic-ai/claude-agent-sdk';

/** What the gateway is built and tested against. */
export const SDK_VERSION = '0.3.325';

export const ADD_COMMAND = 'toolgate add claude-code';

export const SDK_SIZE = 'about 350 MB';

/**
 * Where `add` installs it: it survives another version of the package, `npx` and `npm ci`, needs no rights
 * over the folder of the package, and no tool and no command of an agent reaches it.
 */
export function sdkFolder(env: Environment): string {
  return join(userStateFolder(env), 'claude-code', SDK_VERSION);
}

/** By platform and architecture, in the order in which they are tried. */
const BINARY_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'linux-x64': [`${SDK_PACKAGE}-linux-x64`, `${SDK_PACKAGE}-linux-x64-musl`],
  'linux-arm64': [`${SDK_PACKAGE}-linux-arm64`, `${SDK_PACKAGE}-linux-arm64-musl`],
  'darwin-x64': [`${SDK_PACKAGE}-darwin-x64`],
  'darwin-arm64': [`${SDK_PACKAGE}-darwin-arm64`],
  'win32-x64': [`${SDK_PACKAGE}-win32-x64`],
  'win32-arm64': [`${SDK_PACKAGE}-win32-arm64`],
};

type ClaudeCodeCheck =
  | { ok: true; sdkVersion: string; main: string; binary: string }
  /** `problem` is for people and says what to do; `addable` where `toolgate add` can do it. */
  | { ok: false; problem: string; addable: boolean };

/** Finds a file of a package; throws where it is not installed. */
type Resolve = (file: string) => string;

export interface CheckOptions {
  /** How packages beside the gateway are found. */
  resolve?: Resolve;
  env?: Environment;
  platform?: string;
  arch?: string;
}

/** Looks for the packages without loading them. */
export async function checkClaudeCode(options: CheckOptions = {}): Promise<ClaudeCodeCheck> {
  const platform = `${options.platform ?? process.platform}-${options.arch ?? process.arch}`;
  const packages = BINARY_PACKAGES[platform];
  if (packages === undefined) {
    return { ok: false, problem: `There is no Claude Code for ${platform}.`, addable: false };
  }
  const beside = options.resolve ?? createRequire(import.meta.url).resolve;
  const added = resolveIn(sdkFolder(options.env ?? process.env));
  const file = platform.startsWith('win32') ? 'claude.exe' : 'claude';
  for (const resolve of [beside, added]) {
    const main = find(resolve, SDK_PACKAGE);
    if (main === undefined) continue;
    for (const name of packages) {
      const binary = find(resolve, `${name}/${file}`);
      if (binary === undefined || !(await isProgram(binary))) continue;
      return { ok: true, sdkVersion: await versionBeside(main), main, binary };
    }
  }
  return {
    ok: false,
    problem: `Claude Code is not installed on the gateway's machine. Run there, as the gateway's user: ${ADD_COMMAND} (${SDK_SIZE})`,
    addable: true,
  };
}

/** Rejects with GatewayError `unavailable` where the package, or its program for this platform, is absent. */
export async function loadClaudeSdk(env: Environment = process.env): Promise<ClaudeSdk> {
  const found = await checkClaudeCode({ env });
  if (!found.ok) throw new GatewayError('unavailable', found.problem);
  let cause: unknown;
  try {
    const sdk: unknown = await import(pathToFileURL(found.main).href);
    if (isSdk(sdk)) return sdk;
  } catch (error) {
    cause = error;
  }
  throw new GatewayError(
    'unavailable',
    `The package ${SDK_PACKAGE} in ${dirname(found.main)} cannot be loaded. Delete that folder, then run: ${ADD_COMMAND}`,
    { cause },
  );
}

function isSdk(value: unknown): value is ClaudeSdk {
  return typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'function';
}

/** In the folder's own `node_modules` alone: Node would look in those of the folders above too, which an agent may write. */
export function resolveIn(folder: string): Resolve {
  return (file) => {
    const found = createRequire(join(folder, 'package.json')).resolve(file);
    if (found.startsWith(join(realpathSync(folder), 'node_modules') + sep)) return found;
    throw new Error(`${file} is not installed in ${folder}`);
  };
}

function find(resolve: Resolve, file: string): string | undefined {
  try {
    return resolve(file);
  } catch {
    return undefined;
  }
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function versionBeside(main: string): Promise<string> {
  try {
    const value: unknown = JSON.parse(await readFile(join(dirname(main), 'package.json'), 'utf8'));
    const isObject = typeof value === 'object' && value !== null && 'version' in value;
    return isObject && typeof value.version === 'string' ? value.version : 'unknown';
  } catch {
    return 'unknown';
  }
}
