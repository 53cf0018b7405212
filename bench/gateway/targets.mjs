/**
 * What is measured. A target says how it is started against the mock upstream, and what is sent to
 * it for a direction and a mode; everything else is the same for all.
 */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { httpRequest } from '../lib/load.mjs';
import { start } from '../lib/process.mjs';
import { anthropicRequest, chatRequest } from '../lib/workload.mjs';
import { nginxCommand, startNginx } from './nginx.mjs';

/** The client's dialect and the upstream's. */
export const DIRECTIONS = {
  forward: { client: 'anthropic', upstream: 'chat', path: '/v1/messages', body: anthropicRequest },
  reverse: { client: 'chat', upstream: 'anthropic', path: '/v1/chat/completions', body: chatRequest },
};

const MODES = ['json', 'burst', 'paced', 'first', 'hold'];
const isStream = (mode) => mode !== 'json';

/** The mode is the first part of the path, all the way to the mock. */
function byPath(direction, mode) {
  const { path, body } = DIRECTIONS[direction];
  return httpRequest({ path: `/${mode}${path}`, body: body(isStream(mode)) });
}

const direct = {
  name: 'direct',
  request: byPath,
  start: async (mock) => ({ port: mock.port, pid: mock.pid, stop: async () => {} }),
};

const nginx = {
  name: 'nginx',
  request: byPath,
  unavailable: () => (nginxCommand() === undefined ? 'nginx is not installed and could not be' : undefined),
  start: (mock) => startNginx(nginxCommand(), mock.port),
};

const translator = {
  name: 'translator',
  request: byPath,
  start: (mock) =>
    start(process.execPath, [fileURLToPath(new URL('translator.mjs', import.meta.url)), String(mock.port)]),
};

const KEY = 'bench-key-0123456789abcdef0123456789';
const command = fileURLToPath(new URL('../../bin/toolgate.js', import.meta.url));
const modelName = (direction, mode) => `bench-${direction}-${mode}`;

function gatewayConfiguration(mock, folder) {
  const upstreams = {};
  const models = {};
  for (const mode of MODES) {
    const base = `http://127.0.0.1:${mock.port}/${mode}`;
    upstreams[`chat-${mode}`] = { dialect: 'openai-chat', base_url: `${base}/v1`, api_key: 'upstream' };
    upstreams[`anthropic-${mode}`] = { dialect: 'anthropic-messages', base_url: base, api_key: 'upstream' };
    models[modelName('forward', mode)] = { upstream: `chat-${mode}`, model: 'gpt-5.4' };
    models[modelName('reverse', mode)] = { upstream: `anthropic-${mode}`, model: 'claude-sonnet-5' };
  }
  return {
    server: {
      host: '127.0.0.1',
      port: 0,
      keys: [{ key: KEY, name: 'bench', scopes: ['call'], models: ['*'] }],
    },
    upstreams,
    models,
    store: `sqlite:${join(folder, 'bench.db')}`,
  };
}

const gateway = {
  name: 'toolgate',
  unavailable: () => (existsSync(command) ? undefined : 'bin/toolgate.js does not exist'),
  request(direction, mode) {
    const { path, body } = DIRECTIONS[direction];
    const text = body(isStream(mode)).toString();
    const renamed = text.replace(/"model":"[^"]+"/, `"model":"${modelName(direction, mode)}"`);
    return httpRequest({
      path,
      host: 'localhost',
      headers: { authorization: `Bearer ${KEY}`, 'anthropic-version': '2023-06-01' },
      body: Buffer.from(renamed),
    });
  },
  start(mock, nodeArguments = []) {
    const folder = mkdtempSync(join(tmpdir(), 'toolgate-bench-'));
    const file = join(folder, 'toolgate.yaml');
    writeFileSync(file, JSON.stringify(gatewayConfiguration(mock, folder), null, 2));
    return start(process.execPath, [...nodeArguments, command, 'start', '--config', file, '--port', '0'], {
      cwd: folder,
    });
  },
};

export const TARGETS = [direct, nginx, translator, gateway];
