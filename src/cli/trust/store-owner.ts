/**
 * Whether a store in a working folder was made by a gateway of this user. A clone can bring one
 * along, with rules, sessions and sign-ins of a stranger: it is not even opened. A store of the
 * user's has a random text beside it whose digest is in the user's trust record.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync } from 'node:fs';
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import type { Environment } from '../../config/environment-references.js';
import type { ConfigOrigin } from '../../config/load.js';
import { userStateFolder } from '../../config/paths.js';
import type { Config } from '../../config/schema.js';
import { findTrust, recordTrust, sha256 } from '../../config/trust.js';
import { parseStoreUrl } from '../../store/sqlite/open.js';

const OWNER_FILE = 'owner';
const OWNER_BYTES = 32;

/** What of a store could have come with a folder. The last is the gateway's folder beside it. */
const PARTS = ['', '-wal', '-shm', '-journal', '-files'] as const;

type StoreStanding = 'own' | 'absent' | 'foreign';

export interface FolderStore {
  /** As the configuration names it. */
  path: string;
  /** The same in the real folder: what the record is kept under. */
  key: string;
}

/**
 * The store, where it lies in the folder that the configuration was found in. Undefined for one in
 * memory, elsewhere, or of a configuration that the user named or wrote into their own folder.
 */
export async function folderStore({
  origin,
  config,
  baseDir,
}: {
  origin: ConfigOrigin;
  config: Pick<Config, 'store'>;
  baseDir: string;
}): Promise<FolderStore | undefined> {
  if (origin === 'given' || origin === 'user') return undefined;
  const location = parseStoreUrl(config.store, baseDir);
  if (location.kind !== 'file') return undefined;
  const below = relative(baseDir, location.path);
  if (below.split(sep)[0] === '..' || resolve(below) === below) return undefined;
  return { path: location.path, key: join(await realpath(baseDir), below) };
}

export async function storeStanding({ path, key }: FolderStore, env: Environment): Promise<StoreStanding> {
  if (PARTS.every((part) => !isThere(path + part))) return 'absent';
  const entry = await findTrust(env, 'stores', key);
  const owner = await readFile(ownerFile(path), 'utf8').catch(() => undefined);
  return entry !== undefined && owner !== undefined && sha256(owner) === entry.sha256 ? 'own' : 'foreign';
}

/** Also for one that is not there yet. Rejects with what the file system says. */
export async function claimStore({ path, key }: FolderStore, env: Environment): Promise<void> {
  const owner = randomBytes(OWNER_BYTES).toString('hex');
  // First: a record without its file is harmless, a file without its record loses the store.
  await recordTrust(env, 'stores', { path: key, sha256: sha256(owner), does: [] });
  await mkdir(`${path}-files`, { recursive: true, mode: 0o700 });
  const temporary = `${ownerFile(path)}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  await writeFile(temporary, owner, { flag: 'wx', mode: 0o600 });
  await rename(temporary, ownerFile(path));
}

/** Where a folder's store is kept while the one in it is a stranger's. */
export function storeElsewhere({ key }: FolderStore, env: Environment): string {
  return join(userStateFolder(env), 'stores', sha256(key).slice(0, 32), 'toolgate.db');
}

const ownerFile = (path: string): string => join(`${path}-files`, OWNER_FILE);

/** A link that leads nowhere is there as well. */
function isThere(path: string): boolean {
  return existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
