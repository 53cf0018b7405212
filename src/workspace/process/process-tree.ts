/** A started command with all that came of it, as far as ending it is concerned. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { atMost } from '../../core/deferred.js';
import { endProcesses, killAll } from './end-processes.js';
import { type ProcessInfo, type ProcessMark, readProcess } from './process-list.js';

export interface Started {
  process: ChildProcess | undefined;
  exited: Promise<
    | { kind: 'exited'; code: number }
    | { kind: 'killed'; signal: string }
    | { kind: 'failed'; message: string }
  >;
}

interface ProcessTree {
  /** Resolves with whether anything was left to end, when nothing is. No grace: killed at once. */
  end(graceMs: number): Promise<boolean>;
}

/** The wrapper of a pid namespace takes everything in it along when it ends. */
const WRAPPERS: ReadonlySet<string> = new Set(['bwrap']);

export function createProcessTree(child: Started, mark: ProcessMark, isolated: boolean): ProcessTree {
  const pid = child.process?.pid;
  if (pid === undefined) return { end: async () => false };
  const info = readProcess(pid);
  if (info === undefined && !existsSync('/proc/self/stat')) return groupOnly(child, pid);
  if (info !== undefined) mark.group = { pid, startTime: info.startTime };
  const spare = isolated ? ({ name }: ProcessInfo) => WRAPPERS.has(name) : () => false;
  return {
    async end(graceMs) {
      if (graceMs > 0) return await endProcesses(mark, { graceMs, spare });
      await killAll(mark);
      return true;
    },
  };
}

/** Without /proc: the group alone, which a program can leave. */
function groupOnly(child: Started, pid: number): ProcessTree {
  const signal = (name: NodeJS.Signals): boolean => {
    try {
      process.kill(-pid, name);
      return true;
    } catch {
      return false;
    }
  };
  return {
    async end(graceMs) {
      if (graceMs > 0 && signal('SIGTERM')) await atMost(graceMs, child.exited);
      return signal('SIGKILL');
    },
  };
}
