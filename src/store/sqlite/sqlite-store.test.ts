import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Place, sharedStoreContract, storeContract } from '../../../test/contracts/store.js';
import { openStore } from '../open/open-store.js';
import { Database } from './database.js';

async function filePlace(): Promise<Place> {
  const baseDir = await mkdtemp(join(tmpdir(), 'store-'));
  return {
    open: (options) => openStore('sqlite:./folder/test.db', { baseDir, ...options }),
    dispose: () => rm(baseDir, { recursive: true }),
  };
}

async function memoryPlace(): Promise<Place> {
  return {
    open: (options) => openStore('sqlite::memory:', { baseDir: '/', ...options }),
    dispose: async () => {},
  };
}

storeContract('sqlite file', filePlace);
storeContract('sqlite in memory', memoryPlace);
sharedStoreContract('sqlite file', filePlace);

it('usage that cannot be written while another holds the lock is written once, afterwards', async () => {
  const baseDir = await mkdtemp(join(tmpdir(), 'store-'));
  onTestFinished(() => rm(baseDir, { recursive: true }));
  const errors: unknown[] = [];
  const options = { baseDir, limits: { lockWaitMs: 1 }, onError: (error: unknown) => errors.push(error) };
  const store = await openStore('sqlite:./test.db', options);
  const other = await Database.open({ path: join(baseDir, 'test.db'), memory: false, lockWaitMs: 1000 });
  const requests = async () => (await store.usage.summarise({ from: 0, to: 9, by: [] }))[0]?.requests;
  const counts = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
  other.exec('BEGIN IMMEDIATE');
  store.usage.record({
    at: 1,
    principal: 'a',
    model: 'm',
    upstream: 'u',
    status: 200,
    latencyMs: 1,
    ...counts,
  });
  expect(await requests()).toBeUndefined();
  expect(errors).not.toEqual([]);
  other.exec('ROLLBACK');
  other.close();
  expect(await requests()).toBe(1);
  expect(await requests()).toBe(1);
  await store.close();
});
