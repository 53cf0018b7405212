/**
 * The configuration that a command works with: given, trusted, or none. What lies in the working
 * folder and is not trusted is asked about in a terminal; otherwise it is named and passed over. So is
 * a store that came with the folder.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync } from 'node:fs';
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import type { Environment } from '../config/environment-references.js';
import { type ConfigOrigin, type LoadedConfig, loadConfig } from '../config/load.js';
import type { Overrides } from '../config/parse.js';
import { userStateFolder } from '../config/paths.js';
import type { Config } from '../config/schema.js';
import {
  type FoundConfig,
  findTrust,
  recordTrust,
  type Standing,
  sha256,
  trustConfig,
} from '../config/trust.js';
import { checkClaudeCode } from '../engines/claude-code/processes/load-sdk.js';
import { parseStoreUrl } from '../store/open/open-store.js';
import type { CliIo, ParsedArguments } from './shared/command.js';

/** Throws ConfigError. Hides the secrets of the configuration from what is printed. */
export async function loadOperatorConfig(
  args: ParsedArguments,
  io: CliIo,
  overrides: Overrides = {},
): Promise<LoadedConfig> {
  const loaded = await loadConfig({
    file: args.values['config'],
    cwd: io.cwd,
    env: io.env,
    overrides,
    claudeCode: async () => (await checkClaudeCode({ env: io.env })).ok,
    onUntrusted: async (found, standing) => {
      if (await askForTrust(found, standing, io)) return true;
      io.err(passedOver(found, standing, io));
      return false;
    },
  });
  io.hide(loaded.secrets);
  return loaded;
}

type Untrusted = Exclude<Standing, { kind: 'trusted' }>;

function passedOver({ file, content }: FoundConfig, standing: Untrusted, { cwd, program }: CliIo): string {
  const name = `./${relative(cwd, file)}`;
  if (content.kind === 'unusable') return `${name} is not used: ${content.why}.`;
  const why = standing.kind === 'new' ? 'is not trusted' : 'has changed since it was trusted';
  return `${name} ${why}, and nothing of it is used. Read it, then run \`${program} trust\`, or name it with --config ${name}.`;
}

/** False without a terminal, and for any answer but yes. */
async function askForTrust(found: FoundConfig, standing: Untrusted, io: CliIo): Promise<boolean> {
  if (io.ask === undefined || found.content.kind !== 'text') return false;
  const { describeConfig } = await import('./describe-config.js');
  const does = describeConfig(found.content.source);
  for (const line of introduce(found, standing, does)) io.err(line);
  if (!/^y(es)?$/i.test((await io.ask('Trust this file? [y/N] ')).trim())) return false;
  await rememberTrust(found, does, io);
  return true;
}

/** What is asked about: each line of what it would do, and where it was trusted before, what is new in it. */
export function introduce(found: FoundConfig, standing: Untrusted, does: readonly string[]): string[] {
  if (standing.kind === 'new') {
    return [`${found.file} is not trusted yet. It would:`, ...does.map((line) => `  ${line}`)];
  }
  const gone = standing.did.filter((line) => !does.includes(line));
  return [
    `${found.file} has changed since it was trusted (+ is new, - is gone). It would:`,
    ...does.map((line) => `${standing.did.includes(line) ? ' ' : '+'} ${line}`),
    ...gone.map((line) => `- ${line}`),
  ];
}

/** A record that cannot be written is said; the answer holds for this run. */
async function rememberTrust(found: FoundConfig, does: readonly string[], io: CliIo): Promise<void> {
  try {
    await trustConfig(found, does, io.env);
  } catch (error) {
    io.err(cannotRecord(error, io));
  }
}

export function cannotRecord(error: unknown, { env }: CliIo): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return `What is trusted cannot be recorded in ${userStateFolder(env)} (${code}), so it holds for this run only. Make that folder writable, or set XDG_STATE_HOME to one that is.`;
}

/**
 * The same configuration with a store that may be opened. `make`: the command is about to make the
 * store where there is none, so it is recorded as the user's.
 */
export async function withOwnStore(
  loaded: LoadedConfig,
  io: CliIo,
  { make }: { make: boolean },
): Promise<LoadedConfig> {
  const store = await folderStore(loaded);
  if (store === undefined) return loaded;
  const standing = await storeStanding(store, io.env);
  if (standing === 'own') return loaded;
  if (standing === 'absent') {
    if (make) await claimStore(store, io.env).catch((error: unknown) => io.err(cannotRecord(error, io)));
    return loaded;
  }
  const elsewhere = storeElsewhere(store, io.env);
  io.err(
    `${store.path} is not known to be yours, and is not opened: it may have come with this folder. \`${io.program} trust\` takes it as yours. Until then sessions and rules are kept in ${elsewhere}.`,
  );
  return { ...loaded, config: { ...loaded.config, store: `sqlite:${elsewhere}` } };
}

const OWNER_FILE = 'owner';
const OWNER_BYTES = 32;

/** What of a store could have come with a folder. The last is the gateway's folder beside it. */
const PARTS = ['', '-wal', '-shm', '-journal', '-files'] as const;

export interface FolderStore {
  /** As the configuration names it. */
  path: string;
  /** The same in the real folder: what the record is kept under. */
  key: string;
}

/**
 * Whether a store in a working folder was made by a gateway of this user. A clone can bring one
 * along, with rules, sessions and sign-ins of a stranger: it is not even opened. A store of the
 * user's has a random text beside it whose digest is in the user's trust record.
 */
type StoreStanding = 'own' | 'absent' | 'foreign';

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
function storeElsewhere({ key }: FolderStore, env: Environment): string {
  return join(userStateFolder(env), 'stores', sha256(key).slice(0, 32), 'toolgate.db');
}

const ownerFile = (path: string): string => join(`${path}-files`, OWNER_FILE);

/** A link that leads nowhere is there as well. */
function isThere(path: string): boolean {
  return existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
