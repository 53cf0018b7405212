/**
 * What of a tool state can be written down and taken up again by another process: where commands
 * run, the list of things to do, and which files were read in which state. Background jobs and
 * private files are not in it: they end with the process.
 */
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import type { FileState, ReadRecord } from '../../workspace/file-state.js';
import { TODO_STATES, type Todo, type TodoList } from './context.js';

interface Snapshot {
  cwd: string | undefined;
  variables: readonly (readonly [name: string, value: string | null])[];
  todos: readonly Todo[];
  files: readonly (readonly [path: string, record: ReadRecord])[];
}

/** Files in a snapshot, which is written often; of more, those that were read last. A file that is left out is read again. */
const MAX_FILES = 200;

export function takeSnapshot(toolState: {
  cwd: string;
  variables: ReadonlyMap<string, string | null>;
  todos: TodoList;
  files: FileState;
}): JsonObject {
  const files = [...toolState.files.entries()];
  if (files.length > MAX_FILES) files.sort(([, a], [, b]) => b.readAt - a.readAt);
  return {
    cwd: toolState.cwd,
    ...(toolState.variables.size === 0
      ? {}
      : { variables: [...toolState.variables].map((each) => [...each]) }),
    todos: toolState.todos.read().map((todo) => ({ ...todo })),
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
