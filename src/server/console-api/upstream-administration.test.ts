import { expect, it } from 'vitest';
import { json, startUpstream } from '../../../test/support/scripted-upstream.js';
import { parseConfig } from '../../config/parse.js';
import { UpstreamAdministration } from './upstream-administration.js';

it('does not find the gateway itself where it listens on the port of a known server', async () => {
  const listening = await startUpstream(() => json({ object: 'list', data: [{ id: 'own' }] }));
  const find = async (port: number) => {
    const { config } = parseConfig({}, { env: {}, overrides: { host: '127.0.0.1', port } });
    const upstreams = new UpstreamAdministration({
      store: { add: async () => undefined, list: async () => [], remove: async () => undefined },
      box: { obstacle: undefined, seal: async (secret) => secret },
      states: { base: { config, origin: 'given' }, problemOf: () => undefined },
      env: {},
      localServers: [
        { name: 'llamacpp', title: 'llama.cpp', baseUrl: `${listening.url}/v1`, patienceMs: 30_000 },
      ],
      refresh: async () => {},
    });
    return (await upstreams.local(new AbortController().signal)).data.map(({ name }) => name);
  };
  expect(await find(Number(new URL(listening.url).port))).toEqual([]);
  expect(listening.requests).toEqual([]);
  expect(await find(1)).toEqual(['llamacpp']);
});
