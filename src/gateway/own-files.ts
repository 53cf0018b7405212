/** Files of the gateway's own, and those that it runs: no tool may touch them. */
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import type { LoadedConfig } from '../config/load.js';
import { resolveToolPaths } from '../config/paths.js';
import type { Config } from '../config/schema.js';
import { parseStoreUrl } from '../store/open/open-store.js';

/** What a node keeps for itself where its store is on another machine. */
const NODE_FILES = '.toolgate/node-files';

/** Beside the store, under its name: what it holds belongs to the same gateway. */
export async function openStateFolder(
  url: string,
  baseDir: string,
): Promise<{ path: string; release(): Promise<void> }> {
  const location = parseStoreUrl(url, baseDir);
  if (location.kind === 'file') return { path: `${location.path}-files`, release: async () => {} };
  if (location.kind === 'postgres') return { path: resolve(baseDir, NODE_FILES), release: async () => {} };
  const path = await mkdtemp(join(tmpdir(), 'toolgate-'));
  return { path, release: () => rm(path, { recursive: true, force: true }) };
}

/** Denied to every tool and hidden from every command, whatever the rules say. */
export function ownFiles({ config, file, baseDir }: LoadedConfig, stateDir: string): string[] {
  const location = parseStoreUrl(config.store, baseDir);
  const store =
    location.kind === 'file' ? ['', '-wal', '-shm', '-journal'].map((end) => `${location.path}${end}`) : [];
  return [...(file === undefined ? [] : [file]), ...store, stateDir];
}

/** What an interpreter takes as a program; other files that an argument names are data. */
const PROGRAMS: ReadonlySet<string> = new Set(
  '.js .mjs .cjs .ts .mts .cts .jsx .tsx .py .pyz .rb .pl .php .lua .sh .bash .zsh .fish .ps1 .jar .wasm'.split(
    ' ',
  ),
);
const EXECUTABLE = 0o111;

/**
 * Tools of the operator's own, and what the commands of MCP servers name. A tool that could write them
 * would be past every rule and the sandbox.
 */
export function executedPaths(config: Pick<Config, 'tools' | 'mcp_servers'>, baseDir: string): string[] {
  const servers = Object.values(config.mcp_servers).flatMap((server) =>
    server.type === 'stdio'
      ? [server.command, ...server.args].flatMap((word) => programsIn(word, baseDir))
      : [],
  );
  return [...new Set([...resolveToolPaths(config, baseDir), ...servers])];
}

/** `--require=./x.js` names one as well. */
function programsIn(word: string, baseDir: string): string[] {
  return [word, ...word.split('=').slice(1)]
    .filter((piece) => piece !== '' && !piece.includes('\0'))
    .map((piece) => resolve(baseDir, piece))
    .filter(isProgram);
}

function isProgram(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && (PROGRAMS.has(extname(path)) || (stats.mode & EXECUTABLE) !== 0);
}
