/**
 * The configuration that a command works with: given, trusted, or none. What lies in the working
 * folder and is not trusted is asked about in a terminal; otherwise it is named and passed over.
 */
import { relative } from 'node:path';
import { type LoadedConfig, loadConfig } from '../config/load.js';
import type { Overrides } from '../config/parse.js';
import { userStateFolder } from '../config/paths.js';
import { type FoundConfig, type Standing, trustConfig } from '../config/trust.js';
import { checkClaudeCode } from '../engines/claude-code/processes/load-sdk.js';
import type { CliIo, ParsedArguments } from './shared/command.js';
import { claimStore, folderStore, storeElsewhere, storeStanding } from './trust/store-owner.js';

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
  const { describeConfig } = await import('./trust/describe-config.js');
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
