/**
 * The processes of this machine, as /proc has them. A process is named by its number and the time
 * it began: numbers are used again. Where there is no /proc, nothing is found.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessId {
  pid: number;
  /** In clock ticks since the machine started. */
  startTime: string;
}

export interface ProcessInfo extends ProcessId {
  /** Cut to 15 bytes by the kernel. */
  name: string;
  state: string;
  parent: number;
  group: number;
}

/** What identifies the processes of one command. Any one of them is enough. */
export interface ProcessMark {
  /** `NAME=value`, in the environment that they were started with. */
  variable: string;
  /** The group that the command was started in. */
  group?: ProcessId;
  /** The file that their output goes to, for those that cleared their environment. */
  output?: string;
}

/** Reading all of a busy machine's processes at once would hold up everyone else. */
const PROCESSES_A_TURN = 48;

export function readProcess(pid: number): ProcessInfo | undefined {
  try {
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** The name stands in brackets and may hold brackets and spaces itself: the last one ends it. */
export function parseStat(pid: number, stat: string): ProcessInfo | undefined {
  const open = stat.indexOf('(');
  const close = stat.lastIndexOf(')');
  if (open < 0 || close < open) return undefined;
  const fields = stat.slice(close + 2).split(' ');
  const [state, parent, group] = fields;
  const startTime = fields[19];
  if (state === undefined || startTime === undefined) return undefined;
  return {
    pid,
    name: stat.slice(open + 1, close),
    state,
    parent: Number(parent),
    group: Number(group),
    startTime,
  };
}

/** A zombie has ended; it only waits for its parent to look. */
export function isAlive({ pid, startTime }: ProcessId): boolean {
  const now = readProcess(pid);
  return now !== undefined && now.startTime === startTime && now.state !== 'Z' && now.state !== 'X';
}

/** Only where the number still means that process. */
export function signalProcess(target: ProcessId, signal: NodeJS.Signals): void {
  if (!isAlive(target)) return;
  try {
    process.kill(target.pid, signal);
  } catch {
    // Gone since, or another user's.
  }
}

/** Every process that carries the mark, and all of their descendants. */
export async function findProcesses(mark: ProcessMark): Promise<ProcessInfo[]> {
  const seen = await lookAt(startOf(mark));
  const all = new Map(seen.map(({ info }) => [info.pid, info]));
  const marked = new Set(seen.filter((each) => carries(each, mark)).map(({ info }) => info.pid));
  addGroup(all, marked, mark.group);
  addDescendants(all, marked);
  return [...marked].flatMap((pid) => all.get(pid) ?? []);
}

/** Values of a variable in the environments that processes were started with, each of them once. */
export async function valuesOf(variable: string): Promise<string[]> {
  const begins = `${variable}=`;
  const values = new Set<string>();
  for (const { environment = '' } of await lookAt(0)) {
    for (const entry of environment.split('\0')) {
      if (entry.startsWith(begins)) values.add(entry.slice(begins.length));
    }
  }
  return [...values];
}

interface SeenProcess {
  info: ProcessInfo;
  /** Only of those that are young enough to be of anyone who asked. */
  environment?: string;
  outputs?: readonly string[];
}

/** No process is older than the command that started it. */
function startOf({ group }: ProcessMark): number {
  return group === undefined ? 0 : Number(group.startTime);
}

let looking: Promise<unknown> | undefined;
let next: { since: number; seen: Promise<SeenProcess[]> } | undefined;

/**
 * A caller that asks while a look is under way shares the one after it: the one under way may have
 * passed by what is looked for. So any number of commands that end at once cost two looks.
 */
function lookAt(since: number): Promise<SeenProcess[]> {
  if (next !== undefined) {
    next.since = Math.min(next.since, since);
    return next.seen;
  }
  const turn = { since, seen: Promise.resolve<SeenProcess[]>([]) };
  next = turn;
  turn.seen = (looking ?? Promise.resolve()).then(async () => {
    next = undefined;
    return await look(turn.since);
  });
  looking = turn.seen.catch(() => undefined);
  return turn.seen;
}

async function look(since: number): Promise<SeenProcess[]> {
  const seen: SeenProcess[] = [];
  let inTurn = 0;
  for (const pid of listPids()) {
    const info = readProcess(pid);
    if (info !== undefined && info.state !== 'Z' && info.state !== 'X' && pid !== process.pid) {
      seen.push(Number(info.startTime) < since ? { info } : { info, ...lookInto(pid) });
    }
    inTurn += 1;
    if (inTurn === PROCESSES_A_TURN) {
      inTurn = 0;
      await new Promise(setImmediate);
    }
  }
  return seen;
}

function listPids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Another user's processes, and those that are gone, show nothing. */
function lookInto(pid: number): { environment?: string; outputs?: readonly string[] } {
  try {
    const environment = readEnvironment(pid) || readEnvironment(pid);
    const folder = `/proc/${pid}/fd`;
    return { environment, outputs: readdirSync(folder).map((fd) => linkOf(`${folder}/${fd}`)) };
  } catch {
    return {};
  }
}

/** Empty also for the instant in which a process becomes another program: worth a second look. */
const readEnvironment = (pid: number): string => readFileSync(`/proc/${pid}/environ`, 'latin1');

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function carries({ environment, outputs }: SeenProcess, { variable, output }: ProcessMark): boolean {
  if (environment === undefined) return false;
  if (environment.startsWith(`${variable}\0`) || environment.includes(`\0${variable}\0`)) return true;
  return output !== undefined && outputs?.some((link) => link.startsWith(output)) === true;
}

/**
 * The kernel gives no number to a new process while a group has it. So the group is still the
 * command's, unless its number belongs to a process that began later.
 */
function addGroup(
  all: ReadonlyMap<number, ProcessInfo>,
  marked: Set<number>,
  group: ProcessId | undefined,
): void {
  if (group === undefined) return;
  const leader = all.get(group.pid);
  if (leader !== undefined && leader.startTime !== group.startTime) return;
  for (const info of all.values()) if (info.group === group.pid) marked.add(info.pid);
}

function addDescendants(all: ReadonlyMap<number, ProcessInfo>, marked: Set<number>): void {
  let before: number;
  do {
    before = marked.size;
    for (const info of all.values()) if (marked.has(info.parent)) marked.add(info.pid);
  } while (marked.size > before);
}
