/** Servers that are added while the gateway runs: they stay, and lead it nowhere inside. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../support/cleanup.js';
import { httpServer, oddServer, testClient } from '../support/mcp-servers.js';
import { until } from '../support/until.js';
import { api, startVirtual } from './mcp-virtual-harness.js';

const named = async (gateway: Parameters<typeof api>[0]): Promise<string[]> => {
  const { json } = await api(gateway, '/api/mcp');
  const servers = Array.isArray(json['data']) ? json['data'] : [];
  return servers.map(({ name, state, persistent }) => `${name} ${state} ${persistent}`);
};

it('a server that was added is there after a restart, and gone once it is removed', async () => {
  const { path: gatewayFolder } = await tempFolder();
  const { type, command, args } = oddServer();
  const first = await startVirtual({ gatewayFolder });
  const added = await api(first, '/api/mcp', { body: { name: 'odd', config: { type, command, args } } });
  expect(added.status).toBe(201);
  await first.close();

  const second = await startVirtual({ gatewayFolder });
  await until(async () => (await named(second)).includes('odd connected false'));
  expect((await api(second, '/api/mcp/odd', { method: 'DELETE' })).status).toBe(204);
  await second.close();

  const third = await startVirtual({ gatewayFolder });
  expect(await named(third)).toEqual([]);
});

/** On an address of loopback, which is as inside as it gets. */
async function listen(
  host: string,
  answer: (path: string) => Record<string, string>,
): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.writeHead(401, answer(request.url ?? '')).end();
  });
  server.listen(0, host);
  await once(server, 'listening');
  closeAfterTest(() => server.close());
  closeAfterTest(() => server.closeAllConnections());
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, seen };
}

it('an added server cannot send the gateway to an address inside for a sign-in; one of the file can', async () => {
  const inside = await listen('127.0.0.2', () => ({}));
  const outside = await listen('127.0.0.1', () => ({
    'www-authenticate': `Bearer resource_metadata="${inside.url}/metadata"`,
  }));
  const options = { callbackUrl: () => 'http://127.0.0.1:1/back' };
  const client = testClient({}, options);
  await client.add('added', { type: 'http', url: `${outside.url}/mcp` });
  expect(outside.seen).toContain('/mcp');
  expect(inside.seen).toEqual([]);

  const configured = testClient({ file: httpServer(`${outside.url}/mcp`) }, options);
  await configured.settled(AbortSignal.timeout(60_000));
  expect(inside.seen).toContain('/metadata');
});
