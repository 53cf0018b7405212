/**
 * What is measured. A target says how it is started against the mock upstream, and what is sent to
 * it for a direction and a mode; everything else is the same for all. Rows name the kinds they measure.
 *
 *   direct    the mock upstream itself, with nothing in between
 *   nginx     moves bytes: it reaches the mock's endpoint of the client's own dialect
 *   bare      translates, and does nothing else
 *   gateway   `toolgate`; `control`, the same build again: how far two equal things differ is the noise;
 *             `base`, another checkout (`--base DIR`)
 *   peer      other gateways (`--peers`)
 */
import { fileURLToPath } from 'node:url';
import { httpRequest } from '../lib/load.mjs';
import { start } from '../lib/process.mjs';
import { DIRECTIONS } from './directions.mjs';
import { gatewayTarget } from './gateway.mjs';
import { nginxCommand, startNginx } from './nginx.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The mode is the first part of the path, all the way to the mock. */
function byPath(direction, mode, { body } = {}) {
  const { path, body: standard } = DIRECTIONS[direction];
  return httpRequest({ path: `/${mode}${path}`, body: body ?? standard(mode) });
}

const direct = {
  name: 'direct',
  kind: 'direct',
  request: byPath,
  start: async (mock) => ({ ...mock, stop: async () => {} }),
};

const nginx = {
  name: 'nginx',
  kind: 'nginx',
  request: byPath,
  unavailable: () => (nginxCommand() === undefined ? 'nginx is not installed and could not be' : undefined),
  start: (mock) => startNginx(nginxCommand(), mock.port),
};

const bare = {
  name: 'bare',
  kind: 'bare',
  request: byPath,
  start(mock, { nodeArguments = [], ipc = false } = {}) {
    const program = fileURLToPath(new URL('translator.mjs', import.meta.url));
    return start(process.execPath, [...nodeArguments, program, String(mock.port)], { ipc });
  },
};

export const toolgate = gatewayTarget('toolgate', ROOT);

export function targetsOf({ base, peers = [] }) {
  return [
    direct,
    nginx,
    bare,
    toolgate,
    gatewayTarget('control', ROOT),
    ...(base === undefined ? [] : [gatewayTarget('base', base)]),
    ...peers,
  ];
}
