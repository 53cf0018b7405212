/** Processes of this machine as /proc has them: who came of whom, and who is still there. */
import { readdirSync, readFileSync } from 'node:fs';
import { isAlive, type ProcessId, parseStat } from '../../src/workspace/process/process-list.js';

export interface SeenProcess extends ProcessId {
  parent: number;
  /** Its words, as it was started. */
  command: string;
}

function lookAt(pid: number): SeenProcess[] {
  try {
    const info = parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'));
    if (info === undefined || info.state === 'Z' || info.state === 'X') return [];
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return [{ pid, startTime: info.startTime, parent: info.parent, command: command || `[${info.name}]` }];
  } catch {
    // Gone meanwhile.
    return [];
  }
}

export function allProcesses(): SeenProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => lookAt(Number(name)));
}

/** Whatever came of this process and is there now; without itself. */
export function descendants(pid: number): SeenProcess[] {
  const all = allProcesses();
  const found: SeenProcess[] = [];
  const parents = [pid];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const each of all) {
      if (each.parent !== parent) continue;
      found.push(each);
      parents.push(each.pid);
    }
  }
  return found;
}

const CLAUDE_CODE = /claude-agent-sdk-[\w-]+\/claude(\s|$)/;

export const isClaudeCode = ({ command }: SeenProcess): boolean => CLAUDE_CODE.test(command);

const PATIENCE_MS = 60_000;

/** Resolves when none of them is there any more: a signal takes its way. Rejects with those that stay. */
export async function allGone(processes: readonly SeenProcess[]): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const left = processes.filter(isAlive);
    if (left.length === 0) return;
    if (performance.now() > until) {
      const list = left.map(({ pid, command }) => `${pid} ${command.slice(0, 300)}`).join('\n');
      throw new Error(`These processes were left behind:\n${list}`);
    }
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
}
