/** Ends all processes of a command, and those that a killed gateway left: politely, then not, until none is left. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { atMost } from '../../core/deferred.js';
import {
  findProcesses,
  isAlive,
  type ProcessId,
  type ProcessInfo,
  type ProcessMark,
  readProcess,
  signalProcess,
  valuesOf,
} from './process-list.js';

/** Between two looks at processes that are not our children: there is no event when those end. */
const LOOK_MS = 15;

/** A program that forks faster than it is found is stopped first; it gets no more turns than this. */
const ROUNDS = 50;

interface EndOptions {
  graceMs: number;
  /** Not asked, only killed: a wrapper whose end would take the others' time to say goodbye. */
  spare?: (process: ProcessInfo) => boolean;
}

/** Resolves with whether any was found, when all are gone. */
async function endProcesses(mark: ProcessMark, options: EndOptions): Promise<boolean> {
  const found = await findProcesses(mark);
  if (found.length === 0) return false;
  const asked = found.filter((each) => options.spare?.(each) !== true);
  for (const each of asked) signalProcess(each, 'SIGTERM');
  // A stopped process gets the signal only when it is continued.
  for (const each of found) if (each.state === 'T') signalProcess(each, 'SIGCONT');
  if (asked.length > 0) await gone(found, options.graceMs);
  await killAll(mark);
  return true;
}

/** At once. Frozen before they are killed, so that what forks cannot outrun it. */
export async function killAll(mark: ProcessMark): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const frozen = new Set<number>();
    let found = await findProcesses(mark);
    if (found.length === 0) return;
    for (let look = 0; look < ROUNDS && found.some(({ pid }) => !frozen.has(pid)); look += 1) {
      for (const each of found) {
        if (!frozen.has(each.pid)) signalProcess(each, 'SIGSTOP');
        frozen.add(each.pid);
      }
      found = await findProcesses(mark);
    }
    for (const each of found) signalProcess(each, 'SIGKILL');
    await gone(found, 1000);
  }
}

/** Resolves when all are gone, or after `withinMs`. */
export async function gone(processes: readonly ProcessId[], withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  let left = processes.filter(isAlive);
  while (left.length > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    left = left.filter(isAlive);
  }
}

export interface Started {
  process: ChildProcess | undefined;
  exited: Promise<
    | { kind: 'exited'; code: number }
    | { kind: 'killed'; signal: string }
    | { kind: 'failed'; message: string }
  >;
}

/** A started command with all that came of it, as far as ending it is concerned. */
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

/**
 * In the environment of everything that a gateway starts: a mark with the gateway's own identity, so
 * that the next one can end what was left by one that was killed and could end nothing itself.
 */
export const COMMAND_ID_VARIABLE = 'TOOLGATE_COMMAND_ID';

/** `<pid>.<start time>` of the gateway; where there is no /proc, nothing can be found by it anyway. */
function ownIdentity(): string {
  return `${process.pid}.${readProcess(process.pid)?.startTime ?? '0'}`;
}

let own: string | undefined;

export function createCommandId(): string {
  own ??= ownIdentity();
  return `${own}.${randomBytes(12).toString('hex')}`;
}

const COMMAND_ID = /^(\d+)\.(\d+)\.[0-9a-f]+$/;

/** Whether the gateway that made the id is gone. */
export function isOrphan(id: string): boolean {
  const [, pid, startTime] = COMMAND_ID.exec(id) ?? [];
  if (pid === undefined || startTime === undefined || startTime === '0') return false;
  return !isAlive({ pid: Number(pid), startTime });
}

/** Ends what gateways that are gone have left running. Resolves with how many commands that were. */
export async function endOrphans(): Promise<number> {
  const orphans = (await valuesOf(COMMAND_ID_VARIABLE)).filter(isOrphan);
  await Promise.all(orphans.map((id) => killAll({ variable: `${COMMAND_ID_VARIABLE}=${id}` })));
  return orphans.length;
}
