import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import type { Environment } from '../config/environment-references.js';

export const INSTALL_HINT =
  'Install it with `npm install -g @anthropic-ai/claude-code`, or name the program with --claude PATH.';

/** Packages that bring the program with them, for those who have the Agent SDK installed. */
const PACKAGES = [
  `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`,
  `@anthropic-ai/claude-code-${process.platform}-${process.arch}`,
];

/** The program's path; undefined where there is none. A path given by the person is the only one tried. */
export async function findClaude(given: string | undefined, env: Environment): Promise<string | undefined> {
  const candidates = given === undefined ? [...onPath(env), ...inPackages()] : [given];
  for (const candidate of candidates) if (await isProgram(candidate)) return candidate;
  return undefined;
}

function onPath(env: Environment): string[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const names = process.platform === 'win32' ? ['claude.exe', 'claude.cmd'] : ['claude'];
  return folders.flatMap((folder) => names.map((name) => join(folder, name)));
}

function inPackages(): string[] {
  const { resolve } = createRequire(import.meta.url);
  return PACKAGES.flatMap((name) => {
    try {
      return [join(dirname(resolve(`${name}/package.json`)), 'claude')];
    } catch {
      return [];
    }
  });
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
