/** A private file with the whole of an output, up to a size. Never throws: a full disk ends the log, not the command. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

export interface LogFile {
  readonly path: string;
  write(chunk: Buffer): void;
  /** Bytes that wait for the disk. */
  readonly pending: number;
  /** Resolves when nothing waits any more. */
  drained(): Promise<void>;
  /** Resolves when everything is written and the file is closed. */
  close(): Promise<void>;
  /** Whether all that was given is in it. */
  readonly complete: boolean;
}

export function createLogFile(path: string, maxBytes: number): LogFile {
  let taken = 0;
  let pending = 0;
  let complete = true;
  let failed = false;
  // The name is new and stays ours: neither a file that is there nor a link is written through.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  let handle: FileHandle | undefined;
  let last: Promise<void> = open(path, flags, 0o600).then(
    (opened) => {
      handle = opened;
    },
    () => {
      failed = true;
    },
  );

  const append = async (part: Buffer): Promise<void> => {
    if (handle !== undefined && !failed) await handle.writeFile(part);
  };

  return {
    path,
    write(chunk) {
      const part = chunk.subarray(0, maxBytes - taken);
      if (part.length < chunk.length) complete = false;
      if (part.length === 0) return;
      taken += part.length;
      pending += part.length;
      last = last
        .then(() => append(part))
        .catch(() => {
          failed = true;
        })
        .finally(() => {
          pending -= part.length;
        });
    },
    get pending() {
      return pending;
    },
    async drained() {
      await last;
    },
    async close() {
      await last;
      await handle?.close().catch(() => undefined);
      handle = undefined;
    },
    get complete() {
      return complete && !failed;
    },
  };
}
