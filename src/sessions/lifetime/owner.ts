/**
 * Who owns a session: one process of one machine. A process id alone is not enough, for it is given
 * again; with the time at which the process started it is not.
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

export function ownerOfThisProcess(): string {
  return ownerOf(process.pid);
}

export function ownerOf(pid: number): string {
  return `${host()}/${pid}/${startTimeOf(pid) ?? ''}`;
}

/** True when it was a process of this machine that is not there any more. False where nobody can tell. */
export function isGone(owner: string): boolean {
  const [where, id = '', started = ''] = owner.split('/');
  const pid = Number(id);
  if (where !== host() || !Number.isSafeInteger(pid) || pid <= 0) return false;
  if (!isThere(pid)) return true;
  const now = startTimeOf(pid);
  return started !== '' && now !== undefined && now !== started;
}

/** Left by a process of this machine that stopped in order. */
export const RELEASED = `${encodeURIComponent(hostname())}/released`;

/** Whoever starts on the machine of an owner that is not there any more is its successor. */
export function mayTakeOver(owner: string): boolean {
  return owner === RELEASED || isGone(owner);
}

const host = (): string => encodeURIComponent(hostname());

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Clock ticks from the start of the machine; undefined where there is no /proc. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything. Behind it the state is field 3, the start time 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie runs nothing: it only waits for its parent to look.
    return fields[0] === 'Z' ? 'gone' : fields[19];
  } catch {
    return undefined;
  }
}
