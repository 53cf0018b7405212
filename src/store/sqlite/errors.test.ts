import { expect, it } from 'vitest';
import { isBusy, sqliteCode, storeError } from './errors.js';

const failure = (code: string): Error => Object.assign(new Error('raw'), { code });

it.each([
  ['SQLITE_IOERR_FSYNC', /reading or writing it failed/],
  ['UNKNOWN_SQLITE_ERROR_1544', /it is read-only/],
  ['UNKNOWN_SQLITE_ERROR_1032', /it is read-only/],
  ['UNKNOWN_SQLITE_ERROR_8714', /reading or writing it failed/],
  ['UNKNOWN_SQLITE_ERROR_773', /another process holds its write lock/],
])('says what to do about %s', (code, message) => {
  expect(storeError(failure(code))).toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(message),
  });
});

it('waits for a lock whose code has no name, and leaves what it does not know as it is', () => {
  expect(isBusy(failure('UNKNOWN_SQLITE_ERROR_773'))).toBe(true);
  expect(isBusy(failure('UNKNOWN_SQLITE_ERROR_1544'))).toBe(false);
  expect(sqliteCode(failure('UNKNOWN_SQLITE_ERROR_999'))).toBeUndefined();
  expect(sqliteCode(failure('EACCES'))).toBeUndefined();
});
