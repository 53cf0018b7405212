import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { closeAfterTest } from '../../../../test/support/cleanup.js';
import { deferred } from '../../../../test/support/gate.js';
import { HttpClient } from '../../../transport/http-client/http-client.js';
import { openHttp } from './http-wire.js';
import { MCP_LIMITS } from './limits.js';
import { loadSdk } from './sdk.js';

afterEach(() => void vi.useRealTimers());

it('of an SSE server that hangs up does not wait to connect again once it is closed', async () => {
  let stream: ServerResponse | undefined;
  const server = createServer((_request, response) => {
    stream = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: endpoint\ndata: /messages\n\n');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  closeAfterTest(() => server.close());
  const { port } = server.address() as AddressInfo;
  const client = new HttpClient({ env: {} });
  const sdk = await loadSdk();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const closed = deferred();
  const wire = openHttp(
    sdk,
    { type: 'sse', url: new URL(`http://127.0.0.1:${port}/sse`), headers: {}, client },
    {
      name: 'docs',
      limits: MCP_LIMITS,
      log: { debug() {}, info() {}, warn() {} },
      redact: (text) => text,
      onBroken: () => wire.close().then(closed.resolve, closed.reject),
      onDoubt() {},
    },
  );
  await wire.transport.start();
  stream?.end();
  await closed.promise;
  await client.close();
  expect(vi.getTimerCount()).toBe(0);
});
