// Clients that tests run on the gateway: npm packages of fixed versions. Claude Code comes with the
// Agent SDK, an optional dependency; what is missing goes to a folder of its own, because it weighs
// hundreds of MB and only `npm test` needs it.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../.cache/clients', import.meta.url));
const places = [fileURLToPath(new URL('..', import.meta.url)), folder];

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
  return places
    .map((place) => join(place, 'node_modules', client.package))
    .filter((installed) => versionIn(installed) === client.version)
    .map((installed) => join(installed, client.file))
    .find(isProgram);
}

export const missingClients = () => TEST_CLIENTS.filter(({ name }) => findTestClient(name) === undefined);

/** What a person can do about a missing client. */
export function howToGetClient({ variable, elsewhere }) {
  if (canInstallClients()) return 'run `node scripts/test-deps.mjs`';
  return `${elsewhere} and set ${variable} to its path`;
}

/** All at once: npm removes from the folder what it is not told to install. */
export function installClients() {
  mkdirSync(folder, { recursive: true });
  const packages = missingOrHere().map((client) => `${client.package}@${client.version}`);
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, ...packages];
  console.log(`$ npm ${args.join(' ')}`);
  spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Without those that are installed elsewhere. */
function missingOrHere() {
  return TEST_CLIENTS.filter(({ name }) => findTestClient(name)?.startsWith(folder) ?? true);
}
