import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GatewayError } from '../../core/errors.js';
import { openStore, parseStoreUrl } from '../../store/open/open-store.js';
import type { LearnedQuirk } from '../../store/store.js';
import { type Check, fail, ok } from './check.js';

interface StoreReport {
  check: Check;
  /** What upstreams' own errors taught; empty where the store cannot be read. */
  learned: readonly LearnedQuirk[];
}

/** Opens the store that is there; one that is not is only checked for, so that `doctor` leaves nothing behind. */
export async function checkStore(url: string, baseDir: string): Promise<StoreReport> {
  try {
    const location = parseStoreUrl(url, baseDir);
    if (location.kind === 'memory') {
      return { check: ok('store', 'in memory: everything is forgotten when the gateway ends'), learned: [] };
    }
    if (location.kind === 'file' && !(await exists(location.path)))
      return { check: await checkFolder(location.path), learned: [] };
    return await openAndAsk(url, baseDir);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { check: fail('store', error.message, 'correct `store`, or what the message names'), learned: [] };
  }
}

async function openAndAsk(url: string, baseDir: string): Promise<StoreReport> {
  const store = await openStore(url, { baseDir, limits: { startWaitMs: 0 } });
  try {
    const { kind, location, sizeBytes, schemaVersion } = await store.info();
    const learned = await store.quirks.list();
    if (kind === 'sqlite' && (!(await writable(location)) || !(await writable(dirname(location))))) {
      const check = fail(
        'store',
        `${location} is read-only`,
        'make the file and its folder writable for the gateway',
      );
      return { check, learned };
    }
    return {
      check: ok(
        'store',
        `${kind === 'sqlite' ? '' : 'PostgreSQL database '}${location}, ${size(sizeBytes)}, schema ${schemaVersion}`,
      ),
      learned,
    };
  } finally {
    await store.close();
  }
}

async function checkFolder(path: string): Promise<Check> {
  let folder = dirname(path);
  while (!(await exists(folder)) && dirname(folder) !== folder) folder = dirname(folder);
  if (await writable(folder)) return ok('store', `${path} will be made at the first start`);
  return fail(
    'store',
    `${path} cannot be made: ${folder} is read-only`,
    'make it writable, or name another `store`',
  );
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function writable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

function size(bytes: number): string {
  if (bytes < 1024 * 1024) return `${Math.ceil(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
