/**
 * Files that the gateway itself runs: tools of the operator's own, and what the commands of MCP
 * servers name. Whoever could write them would be past every rule and the sandbox.
 */
import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { resolveToolPaths } from '../config/paths.js';
import type { Config } from '../config/schema.js';

/** What an interpreter takes as a program; other files that an argument names are data. */
const PROGRAMS: ReadonlySet<string> = new Set(
  '.js .mjs .cjs .ts .mts .cts .jsx .tsx .py .pyz .rb .pl .php .lua .sh .bash .zsh .fish .ps1 .jar .wasm'.split(
    ' ',
  ),
);
const EXECUTABLE = 0o111;

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
