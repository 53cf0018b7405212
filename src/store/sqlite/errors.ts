/** Errors of SQLite, as sentences that say what to do. */
import { GatewayError } from '../../core/errors.js';

/**
 * By the start of the result code's name: extended codes (`SQLITE_IOERR_FSYNC`) share their advice.
 * `number`: the code itself, which is the last byte of an extended one.
 */
const ADVICE: readonly { code: string; number: number; advice: string; retryable?: true }[] = [
  {
    code: 'SQLITE_BUSY',
    number: 5,
    advice: 'another process holds its write lock. Try again',
    retryable: true,
  },
  {
    code: 'SQLITE_LOCKED',
    number: 6,
    advice: 'another process holds its write lock. Try again',
    retryable: true,
  },
  {
    code: 'SQLITE_READONLY',
    number: 8,
    advice: 'it is read-only. Make the file and its folder writable for the gateway',
  },
  { code: 'SQLITE_FULL', number: 13, advice: 'the disk is full. Free some space' },
  {
    code: 'SQLITE_NOTADB',
    number: 26,
    advice: 'it is not a SQLite database. Move the file away, or name another one in `store`',
  },
  {
    code: 'SQLITE_CORRUPT',
    number: 11,
    advice: 'it is damaged. Restore it from a backup, or move it away to start with an empty one',
  },
  {
    code: 'SQLITE_CANTOPEN',
    number: 14,
    advice: 'it cannot be opened. Check that the path is a file the gateway may use',
  },
  {
    code: 'SQLITE_PERM',
    number: 3,
    advice: 'access to it is denied. Check the owner and mode of the file and its folder',
  },
  {
    code: 'SQLITE_IOERR',
    number: 10,
    advice: 'reading or writing it failed. Check the disk and the system log',
  },
];

/** The binding reports a failed open without a code: `…: 14` is SQLITE_CANTOPEN. */
const OPEN_FAILED = /^ConnectionFailed\(.*: (\d+)"\)$/s;
/** It has no name for some extended codes: 1544 is SQLITE_READONLY_DIRECTORY, whose last byte is SQLITE_READONLY. */
const NAMELESS = /^UNKNOWN_SQLITE_ERROR_(\d+)$/;

export function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') {
    if (error.code.startsWith('SQLITE_')) return error.code;
    const nameless = NAMELESS.exec(error.code)?.[1];
    if (nameless !== undefined)
      return ADVICE.find(({ number }) => number === (Number(nameless) & 0xff))?.code;
  }
  return OPEN_FAILED.test(error.message) ? 'SQLITE_CANTOPEN' : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'));
}

/** `subject` is "The store" for clients, or names the file for the person who starts the gateway. */
export function storeError(error: unknown, subject = 'The store of the gateway'): unknown {
  const code = sqliteCode(error);
  const known = ADVICE.find((entry) => code?.startsWith(entry.code));
  if (known === undefined) return error;
  return new GatewayError('unavailable', `${subject} cannot be used: ${known.advice}.`, {
    retryable: known.retryable ?? false,
    param: 'store',
    detail: 'store_unavailable',
    cause: error,
  });
}
