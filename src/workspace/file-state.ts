/**
 * What a session has read of each file, and in which state it was. Edits stand on it: a file that
 * was never read, or that changed since, is not written.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/**
 * The state of a file's bytes. The hash decides: a file that was only touched has not changed. Of
 * a large file it covers only head and tail (`versionOfLargeFile`), and size and time count as well.
 */
export interface FileVersion {
  size: number;
  mtimeMs: number;
  sha256: string;
}

export interface ReadRecord extends FileVersion {
  /** Lines that were shown, from 1; absent when the whole file was. */
  lines?: { from: number; to: number };
  readAt: number;
}

export interface FileState {
  /** By real path. */
  get(realPath: string): ReadRecord | undefined;
  set(realPath: string, record: ReadRecord): void;
  delete(realPath: string): void;
  entries(): IterableIterator<[string, ReadRecord]>;
}

export function createFileState(): FileState {
  const records = new Map<string, ReadRecord>();
  return {
    get: (path) => records.get(path),
    set: (path, record) => void records.set(path, record),
    delete: (path) => void records.delete(path),
    entries: () => records.entries(),
  };
}

/** Files up to this size are hashed whole. */
export const WHOLE_FILE_BYTES = 8 * 1024 * 1024;

const EDGE_BYTES = 16 * 1024;

/** Marks a hash over the first and last 16 KB only. */
const EDGES = 'edges:';

interface FileFacts {
  size: number;
  mtimeMs: number;
}

export function versionOfBytes(bytes: Uint8Array, mtimeMs: number): FileVersion {
  if (bytes.length > WHOLE_FILE_BYTES) {
    const head = bytes.subarray(0, EDGE_BYTES);
    const tail = bytes.subarray(bytes.length - EDGE_BYTES);
    return { size: bytes.length, mtimeMs, sha256: hashOfEdges(head, tail) };
  }
  return { size: bytes.length, mtimeMs, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** Of an open file larger than WHOLE_FILE_BYTES. */
export async function versionOfLargeFile(handle: FileHandle, facts: FileFacts): Promise<FileVersion> {
  const head = await readAt(handle, 0);
  const tail = await readAt(handle, Math.max(0, facts.size - EDGE_BYTES));
  return { size: facts.size, mtimeMs: facts.mtimeMs, sha256: hashOfEdges(head, tail) };
}

/**
 * Whether both stand for the same bytes. Head and tail of a large file prove nothing about its
 * middle, so that there the time must be the same as well.
 */
export function sameVersion(a: FileVersion, b: FileVersion): boolean {
  if (a.size !== b.size || a.sha256 !== b.sha256) return false;
  return !a.sha256.startsWith(EDGES) || a.mtimeMs === b.mtimeMs;
}

function hashOfEdges(head: Uint8Array, tail: Uint8Array): string {
  return EDGES + createHash('sha256').update(head).update(tail).digest('hex');
}

async function readAt(handle: FileHandle, position: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(EDGE_BYTES);
  const { bytesRead } = await handle.read(buffer, 0, EDGE_BYTES, position);
  return buffer.subarray(0, bytesRead);
}
