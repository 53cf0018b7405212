/**
 * Other gateways that npm has, as their packages are. Each says what had to be arranged for it to reach the
 * mock upstream; what one answers wrongly is not measured, and the report says so.
 */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPeers } from '../lib/install.mjs';
import { httpRequest } from '../lib/load.mjs';
import { answers, freePort, start, withFolder } from '../lib/process.mjs';
import { DIRECTIONS } from './directions.mjs';

const folder = fileURLToPath(new URL('../peers', import.meta.url));
const fileOf = (...parts) => join(folder, 'node_modules', ...parts);
const MODES = ['json', 'burst', 'paced', 'first'];

/** `direction`: the one way that it translates. `launch(mock, port, home)`: arguments and environment of Node. */
export const PEERS = [
  {
    name: 'claude-code-router',
    package: '@musistudio/claude-code-router',
    direction: 'forward',
    arranged: 'a home folder of its own, its log off',
    launch(mock, port, home) {
      mkdirSync(join(home, '.claude-code-router'));
      const providers = MODES.map((mode) => ({
        name: mode,
        api_base_url: `http://127.0.0.1:${mock.port}/${mode}/v1/chat/completions`,
        api_key: 'upstream',
        models: ['gpt-5.4'],
      }));
      const configuration = {
        PORT: port,
        HOST: '127.0.0.1',
        LOG: false,
        Providers: providers,
        Router: { default: 'json,gpt-5.4' },
      };
      writeFileSync(join(home, '.claude-code-router', 'config.json'), JSON.stringify(configuration));
      return { args: [fileOf('@musistudio/claude-code-router/dist/cli.js'), 'start'] };
    },
    model: (mode) => `${mode},gpt-5.4`,
  },
  {
    name: 'copilot-api',
    package: 'copilot-api',
    direction: 'forward',
    arranged:
      'its requests to GitHub Copilot, the only upstream that it knows, go to the mock (peers/copilot-fetch.mjs)',
    launch: (mock, port) => ({
      args: [
        '--import',
        join(folder, 'copilot-fetch.mjs'),
        fileOf('copilot-api/dist/main.js'),
        'start',
        '--port',
        String(port),
        '--github-token',
        'bench',
      ],
      env: { HOST: '127.0.0.1', BENCH_UPSTREAM: `http://127.0.0.1:${mock.port}` },
    }),
    model: (mode) => mode,
  },
];

/** Looked at and left out, with the reason. */
export const NOT_RUN = [
  'claude-code-router 3: a package that it depends on could not be found',
  'portkey 1.15.2: without its install scripts streams end with status 500; whole answers leave cached tokens out of the prompt',
  '9router: has no database driver on Node 20 without its install scripts',
  'bifrost: its package downloads a program when it is started',
  'ccproxy: its package is empty so far ("Coming Soon")',
];

export function installAll() {
  installPeers(
    PEERS.map((peer) => peer.package),
    'peers',
  );
}

export const versionOf = (peer) =>
  JSON.parse(readFileSync(fileOf(peer.package, 'package.json'), 'utf8')).version;

/** Starts one in front of the upstream at `mock.port`, with a home folder that is gone when it has stopped. */
export async function startPeer({ launch }, mock) {
  const home = mkdtempSync(join(tmpdir(), 'toolgate-bench-peer-'));
  const port = await freePort();
  const { args, env } = launch(mock, port, home);
  const running = await start(process.execPath, args, {
    cwd: home,
    env: { HOME: home, ...env },
    port,
    ready: () => answers(port),
  });
  return withFolder(running, home);
}

/** Installs them, and gives those that are there as targets. `notes` gets what the report is to say of them. */
export function installedPeers(notes, say) {
  say('installing other gateways');
  try {
    installAll();
  } catch (error) {
    notes.push(`no other gateway was measured: ${error.message}`);
    return [];
  }
  notes.push(...NOT_RUN.map((why) => `not run: ${why}`));
  return PEERS.map((peer) => {
    notes.push(`${peer.name} is ${versionOf(peer)}, ${peer.direction} only; ${peer.arranged}`);
    return peerTarget(peer);
  });
}

function peerTarget(peer) {
  const { name, direction, model } = peer;
  return {
    name,
    kind: 'peer',
    direction,
    can: (wanted, mode) => wanted === direction && MODES.includes(mode),
    request(_, mode) {
      const { path, body } = DIRECTIONS[direction];
      const text = body(mode).toString();
      return httpRequest({
        path,
        host: 'localhost',
        headers: { 'anthropic-version': '2023-06-01' },
        body: Buffer.from(text.replace(/"model":"[^"]+"/, () => `"model":"${model(mode)}"`)),
      });
    },
    start: (mock) => startPeer(peer, mock),
  };
}
