/**
 * What a session has read of each file, and in which state it was. Edits stand on it: a file that
 * was never read, or that changed since, is not written.
 */

/**
 * The state of a file's bytes. The hash decides: a file that was only touched has not changed. Of
 * a large file it covers only head and tail (see file-version.ts), and size and time count as well.
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
