/** What tools keep for one conversation. Nothing in it is shared with another, but with sub-agents. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { createFileState, type FileState, type ReadRecord } from '../../workspace/file-state.js';
import { createJobTable, createTodoList, TODO_STATES, type Todo, type TodoList } from './context.js';
import type { OpenToolState, ToolStateOptions } from './runtime.js';

/**
 * Private folders of sessions, all below one folder of this process. What a process that is gone
 * has left behind is removed by the next one; a process is known by its id and its start time,
 * because ids come again.
 */
interface ScratchFolders {
  /** A new folder, 0700. */
  make(): Promise<string>;
  remove(path: string): Promise<void>;
  /** Removes everything of this process. */
  close(): Promise<void>;
}

const PRIVATE = 0o700;
/** `pid-start-random`. */
const PROCESS_FOLDER = /^(\d+)-([0-9a-z]+)-[A-Za-z0-9]+$/;
const UNKNOWN_START = 'x';

function createScratchFolders(base: string): ScratchFolders {
  const swept = sweep(base);
  let own: Promise<string> | undefined;
  let closed = false;

  const open = async (): Promise<string> => {
    await swept;
    await mkdir(base, { recursive: true, mode: PRIVATE });
    const start = (await startOf(process.pid)) ?? UNKNOWN_START;
    return mkdtemp(join(base, `${process.pid}-${start}-`));
  };

  return {
    async make() {
      if (closed) throw new Error('the private folders of this process are closed');
      own ??= open();
      return mkdtemp(join(await own, 's-'));
    },
    remove: (path) => rm(path, { recursive: true, force: true, maxRetries: 3 }),
    async close() {
      closed = true;
      await swept;
      const folder = await own?.catch(() => undefined);
      if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Removes the folders of processes that are gone. Never throws: it is only tidying up. */
export async function sweep(base: string): Promise<void> {
  const names = await readdir(base).catch(() => []);
  await Promise.all(
    names.map(async (name) => {
      const [, pid = '', start = ''] = PROCESS_FOLDER.exec(name) ?? [];
      if (pid === '' || (await isAlive(Number(pid), start))) return;
      await rm(join(base, name), { recursive: true, force: true }).catch(() => {});
    }),
  );
}

async function isAlive(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const now = await startOf(pid);
  // Where that is unknown, a folder too many is better than one taken from a running process.
  return now === undefined || start === UNKNOWN_START || now === start;
}

/** When a process began, as a word that no other process with the same id has. */
async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name of the program stands in parentheses and may hold spaces; field 22 is the start.
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return start === undefined || start === '' ? undefined : start;
  }
  if (process.platform === 'win32') return undefined;
  const shown = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => undefined);
  const start = Date.parse(shown?.stdout.trim() ?? '');
  return Number.isNaN(start) ? undefined : start.toString(36);
}

/**
 * What of a tool session can be written down and taken up again by another process: where commands
 * run, the list of things to do, and which files were read in which state. Background jobs and
 * private files are not in it: they end with the process.
 */
interface Snapshot {
  cwd: string | undefined;
  variables: readonly (readonly [name: string, value: string | null])[];
  todos: readonly Todo[];
  files: readonly (readonly [path: string, record: ReadRecord])[];
}

/** Files in a snapshot, which is written often; of more, those that were read last. A file that is left out is read again. */
const MAX_FILES = 200;

export function takeSnapshot(session: {
  cwd: string;
  variables: ReadonlyMap<string, string | null>;
  todos: TodoList;
  files: FileState;
}): JsonObject {
  const files = [...session.files.entries()];
  if (files.length > MAX_FILES) files.sort(([, a], [, b]) => b.readAt - a.readAt);
  return {
    cwd: session.cwd,
    ...(session.variables.size === 0 ? {} : { variables: [...session.variables].map((each) => [...each]) }),
    todos: session.todos.read().map((todo) => ({ ...todo })),
    files: files.slice(0, MAX_FILES).map(([path, record]) => [path, fileJson(record)]),
  };
}

/** What cannot be read is left out: then a file counts as never read. */
export function readSnapshot(snapshot: JsonObject): Snapshot {
  const { cwd, variables, todos, files } = snapshot;
  return {
    cwd: typeof cwd === 'string' ? cwd : undefined,
    variables: arrayOf(variables).flatMap((each) => {
      const [name, value] = arrayOf(each);
      return typeof name === 'string' && (typeof value === 'string' || value === null)
        ? [[name, value] as const]
        : [];
    }),
    todos: arrayOf(todos).flatMap((each) => todoOf(each) ?? []),
    files: arrayOf(files).flatMap((each) => {
      const [path, record] = arrayOf(each);
      const read = recordOf(record);
      return typeof path === 'string' && read !== undefined ? [[path, read] as const] : [];
    }),
  };
}

function fileJson({ size, mtimeMs, sha256, readAt, lines }: ReadRecord): JsonObject {
  return {
    size,
    mtimeMs,
    sha256,
    readAt,
    ...(lines === undefined ? {} : { lines: { from: lines.from, to: lines.to } }),
  };
}

function recordOf(value: unknown): ReadRecord | undefined {
  if (!isObject(value)) return undefined;
  const { size, mtimeMs, sha256, readAt, lines } = value;
  if (typeof size !== 'number' || typeof mtimeMs !== 'number') return undefined;
  if (typeof sha256 !== 'string' || typeof readAt !== 'number') return undefined;
  if (lines === undefined) return { size, mtimeMs, sha256, readAt };
  if (!isObject(lines)) return undefined;
  const { from, to } = lines;
  if (typeof from !== 'number' || typeof to !== 'number') return undefined;
  return { size, mtimeMs, sha256, readAt, lines: { from, to } };
}

function todoOf(value: unknown): Todo | undefined {
  if (!isObject(value)) return undefined;
  const { content, activeForm } = value;
  const status = TODO_STATES.find((each) => each === value['status']);
  if (typeof content !== 'string' || typeof activeForm !== 'string' || status === undefined) return undefined;
  return { content, status, activeForm };
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

interface ToolStates {
  /** `onClose` gets the id when the conversation itself ends, not one of its sub-agents. */
  open(options: ToolStateOptions, onClose?: (id: string) => Promise<void>): Promise<OpenToolState>;
  /** Closes every session and removes all private folders. */
  close(): Promise<void>;
}

export function createToolStates(stateDir: string): ToolStates {
  const folders = createScratchFolders(join(stateDir, 'scratch'));
  const open = new Set<OpenToolState>();

  const openSession: ToolStates['open'] = async (options, onClose) => {
    const { id, principal, user, workspace, agent, parent } = options;
    const restored = options.restore === undefined ? undefined : readSnapshot(options.restore);
    const jobs = parent?.jobs ?? createJobTable();
    let scratch: Promise<string> | undefined;
    let scratchPath: string | undefined;
    let closing: Promise<void> | undefined;

    const close = async (): Promise<void> => {
      open.delete(toolState);
      if (parent !== undefined) return;
      await Promise.all([jobs.close(), onClose?.(id)]);
      const made = await scratch?.catch(() => undefined);
      if (made !== undefined) await folders.remove(made);
    };

    const toolState: OpenToolState = {
      id,
      principal,
      ...(agent === undefined ? {} : { agent }),
      cwd: options.cwd ?? restored?.cwd ?? parent?.cwd ?? workspace.root,
      variables: new Map(restored?.variables ?? []),
      todos: createTodoList(),
      jobs,
      async scratch() {
        if (parent !== undefined) return parent.scratch();
        if (closing !== undefined) throw new Error('the session is closed');
        scratch ??= folders.make();
        scratchPath = await scratch;
        return scratchPath;
      },
      memoryDir: parent?.memoryDir ?? memoryFolder(stateDir, principal, user),
      workspace,
      files: createFileState(),
      ownPaths: () => parent?.ownPaths?.() ?? (scratchPath === undefined ? [] : [scratchPath]),
      snapshot: () => takeSnapshot(toolState),
      close: () => (closing ??= close()),
    };
    if (restored !== undefined) {
      toolState.todos.replace(restored.todos);
      for (const [path, record] of restored.files) toolState.files.set(path, record);
    }
    open.add(toolState);
    return toolState;
  };

  return {
    open: openSession,
    async close() {
      await Promise.all([...open].map((session) => session.close()));
      await folders.close();
    },
  };
}

/**
 * Two principals, and two end users of one, never share a folder, also where file names ignore case
 * or a name holds `..`: the hash makes them distinct, the rest is for people who look.
 */
export function memoryFolder(stateDir: string, principal: string, user?: string): string {
  const whose = user === undefined ? principal : JSON.stringify([principal, user]);
  const hash = createHash('sha256').update(whose).digest('hex').slice(0, 16);
  const word = principal
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 32)
    .replace(/^-|-$/g, '');
  return join(stateDir, 'memory', word === '' ? hash : `${word}-${hash}`);
}
