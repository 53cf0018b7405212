import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/cleanup.js';
import { sameVersion, versionOfBytes, versionOfLargeFile, WHOLE_FILE_BYTES } from './file-state.js';

const large = (fill: number, middle: number): Buffer => {
  const bytes = Buffer.alloc(WHOLE_FILE_BYTES + 1, fill);
  bytes[WHOLE_FILE_BYTES >> 1] = middle;
  return bytes;
};

describe('the version of a file', () => {
  it('is the same for the same bytes, whatever the time', () => {
    const bytes = Buffer.from('text');
    expect(sameVersion(versionOfBytes(bytes, 1), versionOfBytes(bytes, 2))).toBe(true);
    expect(sameVersion(versionOfBytes(bytes, 1), versionOfBytes(Buffer.from('TEXT'), 1))).toBe(false);
  });

  it('of a large file counts the time, as its middle is not hashed', () => {
    const before = versionOfBytes(large(1, 1), 1);
    expect(sameVersion(before, versionOfBytes(large(1, 1), 1))).toBe(true);
    expect(sameVersion(before, versionOfBytes(large(1, 2), 2))).toBe(false);
    expect(sameVersion(before, versionOfBytes(large(2, 2), 1))).toBe(false);
  });

  it('of a large file is the same whether it was read whole or not', async () => {
    const path = join(await realpath((await tempFolder()).path), 'large');
    const file = openSync(path, 'w');
    writeSync(file, 'start');
    ftruncateSync(file, WHOLE_FILE_BYTES + 5);
    writeSync(file, 'end', WHOLE_FILE_BYTES);
    closeSync(file);
    const handle = await open(path);
    try {
      const stats = await handle.stat();
      expect(await versionOfLargeFile(handle, stats)).toEqual(
        versionOfBytes(await handle.readFile(), stats.mtimeMs),
      );
    } finally {
      await handle.close();
    }
  });
});
