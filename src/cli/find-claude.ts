import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import type { Environment } from '../config/environment-references.js';
import { checkClaudeCode } from '../engines/claude-code/processes/load-sdk.js';

export const INSTALL_HINT =
  'Install it with `npm install -g @anthropic-ai/claude-code`, or name the program with --claude PATH.';

/** Brings the program with it. */
const PACKAGE = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;

/** The program's path; undefined where there is none. A path given by the person is the only one tried. */
export async function findClaude(given: string | undefined, env: Environment): Promise<string | undefined> {
  const candidates = given === undefined ? [...onPath(env), ...(await inPackages(env))] : [given];
  for (const candidate of candidates) if (await isProgram(candidate)) return candidate;
  return undefined;
}

function onPath(env: Environment): string[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const names = process.platform === 'win32' ? ['claude.exe', 'claude.cmd'] : ['claude'];
  return folders.flatMap((folder) => names.map((name) => join(folder, name)));
}

/** That of the Agent SDK, where the engine has it, or of Claude Code's own package. */
async function inPackages(env: Environment): Promise<string[]> {
  const sdk = await checkClaudeCode({ env });
  if (sdk.ok) return [sdk.binary];
  try {
    return [join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), 'claude')];
  } catch {
    return [];
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
