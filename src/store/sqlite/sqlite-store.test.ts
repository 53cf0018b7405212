import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Place, sharedStoreContract, storeContract } from '../../../test/contracts/store.js';
import { openStore } from './open.js';

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
