/** Whether a SQLite store can still be written, and is still where it was. */
import { open, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GatewayError } from '../../core/errors.js';
import type { Context } from './context.js';

/** What every database file begins with. */
const MAGIC = 'SQLite format 3\0';
/** Less is a full disk: the next turns would fail in the middle. */
const LEAST_FREE_BYTES = 8 * 1024 * 1024;

export interface StoreFile {
  path: string;
  /** Of the file that was opened: another one under its name is not it. */
  inode: number;
}

/** Undefined for one in memory. */
export async function storeFile(path: string, isMemory: boolean): Promise<StoreFile | undefined> {
  return isMemory ? undefined : { path, inode: (await stat(path)).ino };
}

/** Rejects with GatewayError `unavailable` that says what is wrong. */
export async function probe({ database, now }: Context, file: StoreFile | undefined): Promise<void> {
  if (file !== undefined) await checkFile(file);
  const sql = `INSERT INTO counters (name, value) VALUES ('probe', ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  await database.write(() => database.run(sql, [Math.round(now())]), 'relaxed');
}

async function checkFile({ path, inode }: StoreFile): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.ino !== inode) {
    throw unusable(`${path} is gone, or another file has its name. Put it back, or restart the gateway`);
  }
  if ((await firstBytes(path)) !== MAGIC) {
    throw unusable(`${path} is damaged. Stop the gateway, and restore a backup`);
  }
  const { bavail, bsize } = await statfs(dirname(path));
  if (bavail * bsize < LEAST_FREE_BYTES) {
    throw unusable(`The disk of ${path} is full. Free some space`);
  }
}

async function firstBytes(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return buffer.subarray(0, bytesRead).toString('latin1');
  } finally {
    await file.close();
  }
}

function unusable(problem: string): GatewayError {
  return new GatewayError('unavailable', `${problem}.`, { retryAfter: 5, detail: 'store_unavailable' });
}
