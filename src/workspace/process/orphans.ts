/**
 * Whatever a gateway starts carries a mark with the gateway's own identity, so that the next one can
 * end what was left by one that was killed and could end nothing itself.
 */
import { randomBytes } from 'node:crypto';
import { killAll } from './end-processes.js';
import { isAlive, readProcess, valuesOf } from './process-list.js';

/** In the environment of everything that a command starts, so that it is found again. */
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
