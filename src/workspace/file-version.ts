/** In which state a file's bytes are, at a cost that does not grow with the file. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { FileVersion } from './file-state.js';

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
