/** What a command prints: the first and the last bytes of any length in memory, the whole in a file. Memory is bounded by the two sizes. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

export interface OutputBuffer {
  push(chunk: Buffer): void;
  /** Of everything that was pushed. */
  readonly total: number;
  /** What came from `position` on, as far as it was kept. */
  since(position: number): OutputSlice;
}

export interface OutputSlice {
  before: Buffer;
  /** Bytes between the two that are kept no more. */
  omitted: number;
  after: Buffer;
}

const MAX_CHUNKS = 256;

export function createOutputBuffer(sizes: { headBytes: number; tailBytes: number }): OutputBuffer {
  const head: Buffer[] = [];
  let headLength = 0;
  const tail: Buffer[] = [];
  let tailLength = 0;
  let total = 0;

  const pushTail = (chunk: Buffer): void => {
    // A chunk of a shared pool would keep the whole pool alive.
    tail.push(Buffer.from(chunk.subarray(Math.max(0, chunk.length - sizes.tailBytes))));
    tailLength += Math.min(chunk.length, sizes.tailBytes);
    let first = tail[0];
    while (first !== undefined && tailLength - first.length >= sizes.tailBytes) {
      tail.shift();
      tailLength -= first.length;
      first = tail[0];
    }
    // Many small chunks cost more than their bytes.
    if (tail.length > MAX_CHUNKS) {
      const kept = Buffer.from(Buffer.concat(tail).subarray(-sizes.tailBytes));
      tail.splice(0, tail.length, kept);
      tailLength = kept.length;
    }
  };

  return {
    push(chunk) {
      total += chunk.length;
      const room = sizes.headBytes - headLength;
      if (room > 0) {
        const part = Buffer.from(chunk.subarray(0, room));
        head.push(part);
        headLength += part.length;
      }
      if (chunk.length > room) pushTail(room > 0 ? chunk.subarray(room) : chunk);
    },
    get total() {
      return total;
    },
    since(position) {
      const tailStart = total - tailLength;
      const before = position < headLength ? Buffer.concat(head).subarray(position) : Buffer.alloc(0);
      const from = Math.max(position, tailStart);
      const after = tailLength > 0 ? Buffer.concat(tail).subarray(from - tailStart) : Buffer.alloc(0);
      return { before, omitted: Math.max(0, tailStart - Math.max(position, headLength)), after };
    },
  };
}

/** Length of `bytes` without a UTF-8 character that has only begun. */
export function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** As text; the rest of a character whose beginning was cut off is left out. */
export function decodeOutput({ before, omitted, after }: OutputSlice): OutputText {
  if (omitted === 0) return { before: Buffer.concat([before, after]).toString('utf8'), omitted, after: '' };
  let start = 0;
  while (start < 3 && ((after[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return {
    before: before.subarray(0, wholeCharacters(before)).toString('utf8'),
    omitted,
    after: after.subarray(start).toString('utf8'),
  };
}

interface OutputText {
  before: string;
  /** Bytes. */
  omitted: number;
  after: string;
}

/** A private file with the whole of an output, up to a size. Never throws: a full disk ends the log, not the command. */
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
