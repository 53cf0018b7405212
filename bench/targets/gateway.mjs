/**
 * The gateway as a target, built from a checkout: with auth, logs, metrics, traces and the store on, as it
 * comes. The mode of the mock upstream is in the address of an upstream, so each mode has its model.
 */
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpRequest } from '../lib/load.mjs';
import { start, withFolder } from '../lib/process.mjs';
import { DIRECTIONS } from './directions.mjs';

export const KEY = 'bench-key-0123456789abcdef0123456789';
const MODES = ['json', 'burst', 'paced', 'first', 'hold', 'text40', 'text100', 'text1000', 'text10000'];
const modelName = (direction, mode) => `bench-${direction}-${mode}`;

/** The upstream of a configuration that answers in a mode. */
export const upstreamName = (dialect, mode) => `${dialect}-${mode}`;

function configurationOf(mock, folder) {
  const upstreams = {};
  const models = {};
  for (const mode of [...MODES, 'agent']) {
    const base = `http://127.0.0.1:${mock.port}/${mode}`;
    const api_key = 'upstream';
    upstreams[upstreamName('chat', mode)] = { dialect: 'openai-chat', base_url: `${base}/v1`, api_key };
    upstreams[upstreamName('anthropic', mode)] = { dialect: 'anthropic-messages', base_url: base, api_key };
  }
  for (const mode of MODES) {
    models[modelName('forward', mode)] = { upstream: upstreamName('chat', mode), model: 'gpt-5.4' };
    models[modelName('reverse', mode)] = {
      upstream: upstreamName('anthropic', mode),
      model: 'claude-sonnet-5',
    };
  }
  const keys = [{ key: KEY, name: 'bench', scopes: ['call'], models: ['*'] }];
  return {
    server: { host: '127.0.0.1', port: 0, keys },
    upstreams,
    models,
    store: `sqlite:${join(folder, 'bench.db')}`,
  };
}

/**
 * `start(mock, options)`: `configure(configuration, folder)` changes it before the start, `nodeArguments`
 * and `ipc` are for what looks into the process. Its folder is gone after `stop`.
 */
export function gatewayTarget(name, root) {
  const command = join(root, 'bin/toolgate.js');
  return {
    name,
    kind: 'gateway',
    unavailable: () =>
      existsSync(join(root, 'dist/cli.js')) ? undefined : `${root} is not built: npm run build`,
    request(direction, mode, { body, model = modelName(direction, mode), key = KEY } = {}) {
      const { path, body: standard } = DIRECTIONS[direction];
      const text = (body ?? standard(mode)).toString();
      return httpRequest({
        path,
        host: 'localhost',
        headers: { authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' },
        body: Buffer.from(text.replace(/"model":"[^"]+"/, () => `"model":"${model}"`)),
      });
    },
    async start(mock, { configure, nodeArguments = [], ipc = false } = {}) {
      const folder = mkdtempSync(join(tmpdir(), 'toolgate-bench-'));
      const home = join(folder, 'home');
      mkdirSync(home);
      const configuration = configurationOf(mock, folder);
      configure?.(configuration, folder);
      const file = join(folder, 'toolgate.yaml');
      writeFileSync(file, JSON.stringify(configuration, null, 2));
      const running = await start(
        process.execPath,
        [...nodeArguments, command, 'start', '--config', file, '--port', '0'],
        { cwd: folder, env: { HOME: home }, ipc },
      );
      return withFolder(running, folder);
    },
  };
}
