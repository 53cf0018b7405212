import { existsSync } from 'node:fs';
import { realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULTS } from '../config/defaults.js';
import { findInEnvironment } from '../config/from-environment.js';
import { CONFIG_FILE, loadConfigText, SCHEMA_FILE } from '../config/load.js';
import { sha256, trustConfig } from '../config/trust.js';
import { checkClaudeCode } from '../engines/claude-code/processes/load-sdk.js';
import { findLocalServers, LOCAL_SERVERS, type LocalServer } from '../upstreams/local-servers.js';
import { renderConfig } from './config-template.js';
import { describeConfig } from './describe-config.js';
import { cannotRecord } from './operator-config.js';
import { type CliIo, type Command, EXIT, type ParsedArguments } from './shared/command.js';

export const command: Command = {
  name: 'init',
  summary: `Write a commented ${CONFIG_FILE} from what is found here`,
  usage: 'init',
  options: {
    force: { summary: `Overwrite the ${CONFIG_FILE} that is there` },
  },
  run: (args, io) => init(args, io, LOCAL_SERVERS),
};

export async function init(
  args: ParsedArguments,
  io: CliIo,
  localServers: readonly LocalServer[],
): Promise<number> {
  const file = join(io.cwd, CONFIG_FILE);
  const force = args.switches.has('force');
  if (!force && existsSync(file)) return refuse(file, io);

  const environment = findInEnvironment(io.env, DEFAULTS.server);
  const servers = await findLocalServers(localServers);
  const source = renderConfig({
    environment: environment.upstreams,
    servers,
    claudeCode: (await checkClaudeCode({ env: io.env })).ok,
    schema: schemaHint(io.cwd),
  });
  // What is written has been read once: a file that cannot be loaded never gets there.
  await loadConfigText(source, { file, baseDir: io.cwd, env: io.env });
  try {
    await write(file, source, force);
  } catch (error) {
    if (isCode(error, 'EEXIST')) return refuse(file, io);
    if (!(error instanceof Error && 'code' in error)) throw error;
    io.err(`Cannot write ${file} (${String(error.code)}). Check the permissions of the folder.`);
    return EXIT.failed;
  }

  io.out(`Wrote ${file}`);
  await trustWritten(file, source, io);
  for (const { name, keyVariable } of environment.upstreams) io.out(`  ${name}: key from ${keyVariable}`);
  for (const { name, title, baseUrl, models } of servers) {
    io.out(
      `  ${name}: ${title} at ${baseUrl}, ${models.length === 1 ? '1 model' : `${models.length} models`}`,
    );
  }
  for (const { finding, advice } of environment.notices) io.out(`${finding}. To change that, ${advice}.`);
  if (environment.upstreams.length + servers.length === 0) {
    io.out(
      'No key in the environment and no local model server was found: only the demo model is connected.',
    );
    io.out(
      `Set a key (ANTHROPIC_API_KEY, OPENAI_API_KEY …) and run \`${io.program} init --force\`, or follow the comments in the file.`,
    );
  }
  io.out(`Next: ${io.program} doctor, then ${io.program} start`);
  return EXIT.ok;
}

/** What was written here is the operator's own. */
async function trustWritten(file: string, source: string, io: CliIo): Promise<void> {
  const content = { kind: 'text', source, sha256: sha256(source) } as const;
  try {
    const key = join(await realpath(dirname(file)), CONFIG_FILE);
    await trustConfig({ file, key, content }, describeConfig(source), io.env);
  } catch (error) {
    io.err(cannotRecord(error, io));
  }
}

function refuse(file: string, io: CliIo): number {
  io.err(`${file} is there already and stays as it is. To overwrite it: ${io.program} init --force`);
  return EXIT.failed;
}

/** Never half a file, and without `force` never over another one, also when two run at once. */
async function write(file: string, source: string, force: boolean): Promise<void> {
  if (!force) return writeFile(file, source, { flag: 'wx' });
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, source, { flag: 'wx' });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The schema of the installed package: relative where it is inside the folder, so that the file can be shared. */
function schemaHint(cwd: string): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, SCHEMA_FILE))) {
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  const path = relative(cwd, join(folder, SCHEMA_FILE));
  if (path.startsWith('..') || isAbsolute(path)) return join(folder, SCHEMA_FILE);
  return `./${path.split(sep).join('/')}`;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
