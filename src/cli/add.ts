/** Installs what the package does not carry: the Agent SDK with Claude Code, at the version of this release. */
import { mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import type { Environment } from '../config/environment-references.js';
import {
  checkClaudeCode,
  resolveIn,
  SDK_PACKAGE,
  SDK_SIZE,
  SDK_VERSION,
  sdkFolder,
} from '../engines/claude-code/processes/load-sdk.js';
import { runProgram } from './run-program.js';
import { type CliIo, type Command, EXIT, type ParsedArguments, UsageError } from './shared/command.js';

const CLAUDE_CODE = 'claude-code';

export const command: Command = {
  name: 'add',
  summary: `Install Claude Code for models with \`engine: claude-code\` (${SDK_SIZE})`,
  usage: `add ${CLAUDE_CODE}`,
  options: {},
  positionals: 1,
  run: add,
};

async function add(args: ParsedArguments, io: CliIo): Promise<number> {
  const [part] = args.positionals;
  if (part !== CLAUDE_CODE) {
    throw new UsageError(`\`add\` installs ${CLAUDE_CODE}${part === undefined ? '' : `, not \`${part}\``}.`);
  }
  const found = await checkClaudeCode({ env: io.env });
  if (found.ok) {
    const tested = found.sdkVersion === SDK_VERSION ? '' : ` (this release was tested with ${SDK_VERSION})`;
    io.out(`Claude Code is installed already: Agent SDK ${found.sdkVersion}${tested}, ${found.binary}`);
    return EXIT.ok;
  }
  if (!found.addable) {
    io.err(found.problem);
    return EXIT.failed;
  }
  const npm = await findNpm(io.env);
  if (npm === undefined) {
    io.err(
      `npm was not found beside Node or on the PATH. Install it (it comes with Node from https://nodejs.org), then run \`${io.program} add ${CLAUDE_CODE}\` again.`,
    );
    return EXIT.failed;
  }
  const target = sdkFolder(io.env);
  try {
    return await install(npm, target, io);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    io.err(
      `${dirname(target)} cannot be written (${String(error.code)}). Make that folder writable, or set XDG_STATE_HOME to one that is, for the gateway too.`,
    );
    return EXIT.failed;
  }
}

/** Made beside the place and renamed into it, so that a gateway never loads half of it. */
async function install(npm: readonly string[], target: string, io: CliIo): Promise<number> {
  const parent = dirname(target);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await removeLeftOvers(parent);
  const folder = await mkdtemp(join(parent, `installing-${process.pid}-`));
  try {
    await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
    io.out(`Installing ${SDK_PACKAGE} ${SDK_VERSION} with npm in ${target} (${SDK_SIZE}) …`);
    const [program = '', ...before] = npm;
    const code = await runProgram(program, [...before, ...npmArguments(folder)], {
      cwd: folder,
      env: npmEnvironment(io.env),
    }).catch((error: unknown) => {
      io.err(`${program} could not be started (${error instanceof Error ? error.message : String(error)}).`);
      return EXIT.failed;
    });
    if (code !== 0) {
      io.err(
        `npm ended with code ${code}. Check the connection and the registry in your own .npmrc, then run \`${io.program} add ${CLAUDE_CODE}\` again.`,
      );
      return code > 128 ? code : EXIT.failed;
    }
    const made = await checkClaudeCode({ env: io.env, resolve: resolveIn(folder) });
    if (!made.ok) {
      io.err(
        `npm installed ${SDK_PACKAGE} without Claude Code for ${process.platform}-${process.arch}. Check that your registry has its optional dependencies, then run \`${io.program} add ${CLAUDE_CODE}\` again.`,
      );
      return EXIT.failed;
    }
    // What is there could not be used, or another `add` was as fast.
    await rm(target, { recursive: true, force: true });
    await rename(folder, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  io.out(
    'Installed. Models with `engine: claude-code` use it from their next request on; a gateway without a configuration has the model claude-code after its next start.',
  );
  const older = (await readdir(parent)).filter(
    (name) => name !== SDK_VERSION && !name.startsWith('installing-'),
  );
  if (older.length > 0) {
    io.out(`Of other releases, in ${parent}: ${older.join(', ')}. Delete what no gateway uses any more.`);
  }
  return EXIT.ok;
}

/**
 * The prefix is given, so that npm looks for no project in the folders above, whose `.npmrc` it would
 * read. The SDK has no code of its peers in use; without them all that is installed has the tested version.
 */
function npmArguments(folder: string): string[] {
  return [
    'install',
    ...['--prefix', folder, '--no-global', '--no-workspaces'],
    ...['--ignore-scripts', '--include=optional', '--legacy-peer-deps'],
    ...['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'],
    `${SDK_PACKAGE}@${SDK_VERSION}`,
  ];
}

/**
 * A package manager that started this command has put its settings into the environment, those of the
 * `.npmrc` of the working folder among them, which may be a stranger's. The user's own `.npmrc` holds.
 */
function npmEnvironment(env: Environment): NodeJS.ProcessEnv {
  const names = Object.keys(env);
  if (!names.some((name) => /^npm_(execpath|command|config_user_agent)$/i.test(name))) return { ...env };
  return Object.fromEntries(names.filter((name) => !/^npm_/i.test(name)).map((name) => [name, env[name]]));
}

/**
 * How npm is called: the one that came with this Node, else one on the PATH. Folders that a package
 * manager puts there, and those that are not absolute, may be the working folder's.
 */
export async function findNpm(
  env: Environment,
  node: string = process.execPath,
): Promise<readonly string[] | undefined> {
  const beside = [join(dirname(node), 'node_modules'), join(dirname(node), '..', 'lib', 'node_modules')];
  const folders = (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !folder.split(sep).includes('node_modules'));
  for (const candidate of [
    ...beside.map((folder) => join(folder, 'npm', 'bin', 'npm-cli.js')),
    ...folders.flatMap((folder) => [
      join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
      join(folder, 'npm'),
    ]),
  ]) {
    const file = await realpath(candidate).catch(() => undefined);
    if (file === undefined) continue;
    if (/\.[cm]?js$/.test(file)) return [node, file];
    if (process.platform !== 'win32') return [file];
  }
  return undefined;
}

/** Of an `add` that was killed. */
async function removeLeftOvers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid] = /^installing-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) {
      await rm(join(parent, name), { recursive: true, force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
