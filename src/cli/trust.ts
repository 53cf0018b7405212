import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigError } from '../config/config-error.js';
import { DEFAULTS } from '../config/defaults.js';
import { CONFIG_FILE, loadConfigText } from '../config/load.js';
import { type FoundConfig, readFoundConfig, standingOf, trustConfig } from '../config/trust.js';
import { describeConfig } from './describe-config.js';
import {
  cannotRecord,
  claimStore,
  type FolderStore,
  folderStore,
  introduce,
  storeStanding,
} from './operator-config.js';
import { type CliIo, type Command, EXIT, type ParsedArguments, UsageError } from './shared/command.js';

export const command: Command = {
  name: 'trust',
  summary: `Trust the ${CONFIG_FILE} and the store found in a folder`,
  usage: 'trust [DIR]',
  options: {},
  positionals: 1,
  run: trust,
};

export async function trust(args: ParsedArguments, io: CliIo): Promise<number> {
  const folder = resolve(io.cwd, args.positionals[0] ?? '.');
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) {
    throw new UsageError(`${folder} is not a folder.`);
  }
  const found = await readFoundConfig(join(folder, CONFIG_FILE));
  if (found?.content.kind === 'unusable') {
    io.err(`${found.file} cannot be trusted: ${found.content.why}.`);
    return EXIT.failed;
  }
  const configuration = found === undefined ? undefined : await trustConfiguration(found, io);
  if (configuration === 'refused') return refused(io);
  const store = await foreignStore(folder, found, io);
  if (found === undefined && store === undefined) {
    io.err(`There is no ${CONFIG_FILE} in ${folder}, and no store that would need trust.`);
    return EXIT.failed;
  }
  if (store === undefined) return configuration === 'failed' ? EXIT.failed : EXIT.ok;
  io.out(`${store.path} is there already. Its sessions, rules and sign-ins would be yours.`);
  if (!(await agreed('Take this store as yours? [y/N] ', io))) return refused(io);
  try {
    await claimStore(store, io.env);
  } catch (error) {
    io.err(cannotRecord(error, io));
    return EXIT.failed;
  }
  io.out(`The store is yours: ${store.path}`);
  return EXIT.ok;
}

async function trustConfiguration(found: FoundConfig, io: CliIo): Promise<'trusted' | 'refused' | 'failed'> {
  const standing = await standingOf(found, io.env);
  if (standing.kind === 'trusted') {
    io.out(`${found.file} is trusted already.`);
    return 'trusted';
  }
  const does = found.content.kind === 'text' ? describeConfig(found.content.source) : [];
  for (const line of introduce(found, standing, does)) io.out(line);
  if (!(await agreed('Trust this file? [y/N] ', io))) return 'refused';
  try {
    await trustConfig(found, does, io.env);
  } catch (error) {
    io.err(cannotRecord(error, io));
    return 'failed';
  }
  io.out(`Trusted: ${found.file}. Another content is asked about again.`);
  return 'trusted';
}

/** Who types the command without a terminal, in a script, has said yes with it. */
async function agreed(question: string, io: CliIo): Promise<boolean> {
  return io.ask === undefined || /^y(es)?$/i.test((await io.ask(question)).trim());
}

function refused(io: CliIo): number {
  io.out('Nothing was changed.');
  return EXIT.failed;
}

/** A store that lies in the folder and is not known to be the user's. */
async function foreignStore(
  folder: string,
  found: FoundConfig | undefined,
  io: CliIo,
): Promise<FolderStore | undefined> {
  const store = await folderStore({
    origin: 'folder',
    config: { store: await storeOf(folder, found, io) },
    baseDir: folder,
  });
  if (store === undefined) return undefined;
  return (await storeStanding(store, io.env)) === 'foreign' ? store : undefined;
}

async function storeOf(folder: string, found: FoundConfig | undefined, io: CliIo): Promise<string> {
  if (found?.content.kind !== 'text') return DEFAULTS.store;
  try {
    const { config } = await loadConfigText(found.content.source, {
      file: found.file,
      baseDir: folder,
      env: io.env,
    });
    return config.store;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    io.err(error.message);
    return DEFAULTS.store;
  }
}
