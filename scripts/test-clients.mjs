// Clients that tests run on the gateway: npm packages of fixed versions, in a folder of their own.
// They are not development dependencies: together they weigh 800 MB, and only `npm test` needs them.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../.cache/clients', import.meta.url));

/** `variable` names the program when it is somewhere else; `file` is the program inside its package. */
export const TEST_CLIENTS = [
  {
    name: 'Claude Code',
    variable: 'TOOLGATE_CLAUDE',
    package: '@anthropic-ai/claude-agent-sdk-linux-x64',
    version: '0.3.325',
    file: 'claude',
    elsewhere: 'install Claude Code 2.1.325 or later',
  },
  {
    name: 'Codex',
    variable: 'TOOLGATE_CODEX',
    package: '@openai/codex',
    version: '0.166.0',
    file: 'bin/codex.js',
    elsewhere: 'run `npm install -g @openai/codex@0.166.0`',
  },
];

/** The packages above are for this platform. */
export const canInstallClients = () => process.platform === 'linux' && process.arch === 'x64';

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function versionIn(path) {
  try {
    return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

/** The path of the client called `name` in the table; undefined where this version is not installed. */
export function findTestClient(name) {
  const client = TEST_CLIENTS.find((each) => each.name === name);
  if (client === undefined) throw new Error(`${name} is not in the table of test clients`);
  const given = process.env[client.variable];
  if (given !== undefined && given !== '') return isProgram(given) ? given : undefined;
  const installed = join(folder, 'node_modules', client.package);
  const program = join(installed, client.file);
  return versionIn(installed) === client.version && isProgram(program) ? program : undefined;
}

export const missingClients = () => TEST_CLIENTS.filter(({ name }) => findTestClient(name) === undefined);

/** What a person can do about a missing client. */
export function howToGetClient({ variable, elsewhere }) {
  if (canInstallClients()) return 'run `node scripts/test-deps.mjs`';
  return `${elsewhere} and set ${variable} to its path`;
}

/** All of them at once: npm removes from the folder what it is not told to install. */
export function installClients() {
  mkdirSync(folder, { recursive: true });
  const packages = TEST_CLIENTS.map((client) => `${client.package}@${client.version}`);
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, ...packages];
  console.log(`$ npm ${args.join(' ')}`);
  spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
}
