/**
 * The Agent SDK and the Claude Code that comes with it. It is an optional dependency of hundreds of
 * MB: loaded with the first use, and its absence is an error that says how to get it.
 */
import { access, constants, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { GatewayError } from '../../../core/errors.js';

export type ClaudeSdk = Pick<typeof import('@anthropic-ai/claude-agent-sdk'), 'query'>;

const PACKAGE = '@anthropic-ai/claude-agent-sdk';

/** What the gateway is built and tested against. */
export const SDK_VERSION = '0.3.325';

export const INSTALL_COMMAND = `npm install ${PACKAGE}@${SDK_VERSION}`;

/** By platform and architecture, in the order in which they are tried. */
const BINARY_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'linux-x64': [`${PACKAGE}-linux-x64`, `${PACKAGE}-linux-x64-musl`],
  'linux-arm64': [`${PACKAGE}-linux-arm64`, `${PACKAGE}-linux-arm64-musl`],
  'darwin-x64': [`${PACKAGE}-darwin-x64`],
  'darwin-arm64': [`${PACKAGE}-darwin-arm64`],
  'win32-x64': [`${PACKAGE}-win32-x64`],
  'win32-arm64': [`${PACKAGE}-win32-arm64`],
};

export type ClaudeCodeCheck =
  | { ok: true; sdkVersion: string; binary: string }
  /** `problem` is for people and says what to do. */
  | { ok: false; problem: string };

export interface CheckOptions {
  /** Finds a file of a package; throws where it is not installed. */
  resolve?: (file: string) => string;
  platform?: string;
  arch?: string;
}

/** Looks for the packages without loading them. */
export async function checkClaudeCode(options: CheckOptions = {}): Promise<ClaudeCodeCheck> {
  const resolve = options.resolve ?? createRequire(import.meta.url).resolve;
  const platform = `${options.platform ?? process.platform}-${options.arch ?? process.arch}`;
  const main = find(resolve, PACKAGE);
  if (main === undefined) {
    return { ok: false, problem: `The package ${PACKAGE} is not installed. Run: ${INSTALL_COMMAND}` };
  }
  const packages = BINARY_PACKAGES[platform];
  if (packages === undefined) {
    return { ok: false, problem: `There is no Claude Code for ${platform}.` };
  }
  const file = platform.startsWith('win32') ? 'claude.exe' : 'claude';
  for (const name of packages) {
    const binary = find(resolve, `${name}/${file}`);
    if (binary === undefined || !(await isProgram(binary))) continue;
    return { ok: true, sdkVersion: await versionBeside(main), binary };
  }
  return {
    ok: false,
    problem: `Claude Code for ${platform} (${packages[0]}) is not installed: optional dependencies were left out. Run: ${INSTALL_COMMAND} --include=optional`,
  };
}

export async function hasClaudeCode(): Promise<boolean> {
  return (await checkClaudeCode()).ok;
}

/** Rejects with GatewayError `unavailable` where the package, or its program for this platform, is absent. */
export async function loadClaudeSdk(): Promise<ClaudeSdk> {
  const found = await checkClaudeCode();
  if (!found.ok) throw new GatewayError('unavailable', found.problem);
  try {
    return await import('@anthropic-ai/claude-agent-sdk');
  } catch (cause) {
    throw new GatewayError(
      'unavailable',
      `The package ${PACKAGE} cannot be loaded. Run: ${INSTALL_COMMAND}`,
      { cause },
    );
  }
}

function find(resolve: (file: string) => string, file: string): string | undefined {
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
