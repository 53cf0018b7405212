/** A file that is there whole or not at all, for its owner alone, and never in place of another. */
import { randomBytes } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { GatewayError } from '../core/errors.js';

/** `write` fills the file that it is given the name of. Rejects where `file` exists, and where writing failed. */
export async function writeNewFile(file: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.partial`;
  try {
    await (await open(temporary, 'wx', 0o600)).close();
    await write(temporary);
    const written = await open(temporary, 'r+');
    await written.sync();
    await written.close();
    // Not a rename, which would take the place of a file that came meanwhile.
    await link(temporary, file);
  } catch (error) {
    throw fileError(file, error);
  } finally {
    await rm(temporary, { force: true });
  }
}

export function fileError(file: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const problem = PROBLEMS[code];
  if (problem === undefined) return error;
  return new GatewayError('invalid_request', `${file} ${problem}`, { cause: error });
}

const PROBLEMS: Readonly<Record<string, string>> = {
  EEXIST: 'exists already, and is not written over. Name another file.',
  ENOENT: 'cannot be opened: there is no such file or folder.',
  EACCES: 'may not be read or written by this user. Name another file, or change its permissions.',
  EISDIR: 'is a folder. Name a file.',
  ENOSPC: 'does not fit: the disk is full. Free some space, and try again.',
};
