/** Ends all processes of a command: politely, then not, until none is left. */
import {
  findProcesses,
  isAlive,
  type ProcessId,
  type ProcessInfo,
  type ProcessMark,
  signalProcess,
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
export async function endProcesses(mark: ProcessMark, options: EndOptions): Promise<boolean> {
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
async function gone(processes: readonly ProcessId[], withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  let left = processes.filter(isAlive);
  while (left.length > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    left = left.filter(isAlive);
  }
}
