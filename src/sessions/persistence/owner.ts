/**
 * The owner of a lease: one process of one machine. Process ids are reused, so the owner includes
 * the start time of the process.
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

export function ownerOfThisProcess(): string {
  return ownerOf(process.pid);
}

export function ownerOf(pid: number): string {
  return `${host()}/${pid}/${startTimeOf(pid) ?? ''}`;
}

/** True for a process of this machine that has exited. False for an unknown state. */
export function isGone(owner: string): boolean {
  const [where, id = '', started = ''] = owner.split('/');
  const pid = Number(id);
  if (where !== host() || !Number.isSafeInteger(pid) || pid <= 0) return false;
  if (!isThere(pid)) return true;
  const now = startTimeOf(pid);
  return started !== '' && now !== undefined && now !== started;
}

/** The owner that a process of this machine writes when it stops in order. */
export const RELEASED = `${encodeURIComponent(hostname())}/released`;

/** A process that starts on the machine of an exited owner is its successor. */
export function mayTakeOver(owner: string): boolean {
  return owner === RELEASED || isGone(owner);
}

const host = (): string => encodeURIComponent(hostname());

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Clock ticks from the start of the machine; undefined where there is no /proc. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything. After it the state is field 3, the start time 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie runs nothing: it waits for its parent to reap it.
    return fields[0] === 'Z' ? 'gone' : fields[19];
  } catch {
    return undefined;
  }
}
