import { readFileSync } from 'node:fs';
import { type Check, ok, warn } from './check.js';

/** Each stream has a socket to the client and one to the upstream, and each agent some files and processes. */
const ENOUGH = 4096;

/** How many files and sockets the process may have open: Linux says it in a file. Nothing where that is not known. */
export function checkOpenFiles(limits: string | undefined = readLimits()): Check[] {
  const soft = /^Max open files\s+(\S+)/m.exec(limits ?? '')?.[1];
  if (soft === undefined) return [];
  if (soft === 'unlimited' || Number(soft) >= ENOUGH) return [ok('open files', `${soft} at most`)];
  return [
    warn(
      'open files',
      `this process may have ${soft} files and sockets open, which is enough for some ${Math.floor(Number(soft) / 3)} streams`,
      `raise it with \`ulimit -n ${ENOUGH}\` or more, or LimitNOFILE= of the service`,
    ),
  ];
}

function readLimits(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
}
