/** Both eras of MCP on both sides of the gateway: who speaks what, and what changes with it. */
import { Client as NewestClient, SSEClientTransport as NewestSse } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as OlderSse } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { closeAfterTest } from '../support/cleanup.js';
import {
  everythingServer,
  httpServer,
  newestServer,
  startEverything,
  startNewest,
  testClient,
  textOf,
} from '../support/mcp-servers.js';
import { descendants } from '../support/processes.js';
import { until } from '../support/until.js';
import { api, connectNewest, NEWEST, startVirtual, textOf as wordsOf } from './mcp-virtual-harness.js';

const settle = (): AbortSignal => AbortSignal.timeout(40_000);

async function connected(...[servers, options = {}]: Parameters<typeof testClient>) {
  // A busy machine takes its time to start a program.
  const client = testClient(servers, { ...options, limits: { probeMs: 60_000, ...options.limits } });
  await client.settled(settle());
  return client;
}

interface Caller {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function older(gateway: { url: string }): Promise<Caller> {
  const client = new OlderClient({ name: 'older', version: '1' });
  const url = new URL(`${gateway.url}/mcp/gateway?model=here`);
  const requestInit = { headers: { authorization: 'Bearer key-of-alice' } };
  await client.connect(new OlderTransport(url, { requestInit }));
  closeAfterTest(() => client.close());
  return client;
}

describe('clients and servers of both eras', () => {
  it('reach each other through the gateway, in every combination', async () => {
    const [http, sse] = [await startEverything('streamableHttp'), await startEverything('sse')];
    const [both, only] = [await startNewest('both'), await startNewest('only')];
    const gateway = await startVirtual({
      mcpServers: {
        stdio1: everythingServer(),
        http1: { type: 'http', url: `${http.url}/mcp` },
        sse1: { type: 'sse', url: `${sse.url}/sse` },
        stdio2: newestServer('both'),
        only2: newestServer('only'),
        http2: { type: 'http', url: both.url },
        newest2: { type: 'http', url: only.url },
      },
    });
    const expected: Readonly<Record<string, unknown>> = {
      stdio1: '2025-11-25',
      http1: '2025-11-25',
      sse1: '2025-11-25',
      // On a machine where it starts slowly it may be taken for one of the older era.
      stdio2: expect.any(String),
      only2: NEWEST,
      http2: NEWEST,
      newest2: NEWEST,
    };
    const listed = await until(async () => {
      const { json } = await api(gateway, '/api/mcp');
      const servers = Array.isArray(json['data']) ? json['data'] : [];
      return servers.every(({ state }) => state === 'connected') && servers;
    });
    expect(Object.fromEntries(listed.map(({ name, protocol }) => [name, protocol]))).toEqual(expected);
    const clients: readonly Caller[] = [
      await older(gateway),
      (await connectNewest(gateway)).client,
      (await connectNewest(gateway, { mode: 'auto' })).client,
    ];
    for (const [index, client] of clients.entries()) {
      for (const server of Object.keys(expected)) {
        const message = `${index} to ${server}`;
        const result = await client.callTool({ name: `mcp__${server}__echo`, arguments: { message } });
        expect(wordsOf(result)).toBe(`Echo: ${message}`);
      }
    }
  });
});

describe('a client of HTTP with SSE (2024-11-05)', () => {
  const headers = { authorization: 'Bearer key-of-alice' };
  const withKey: typeof fetch = (url, init) =>
    fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } });
  const open = {
    '1': async (url: URL): Promise<Caller> => {
      const client = new OlderClient({ name: 'old', version: '1' });
      await client.connect(
        new OlderSse(url, { eventSourceInit: { fetch: withKey }, requestInit: { headers } }),
      );
      return client;
    },
    '2': async (url: URL): Promise<Caller> => {
      const client = new NewestClient({ name: 'old', version: '1' });
      await client.connect(
        new NewestSse(url, { eventSourceInit: { fetch: withKey }, requestInit: { headers } }),
      );
      return client;
    },
  };

  it.each(['1', '2'] as const)(
    'calls tools, and its session ends with its stream (SDK %s.x)',
    async (sdk) => {
      const gateway = await startVirtual();
      const client = await open[sdk](new URL(`${gateway.url}/mcp/gateway?model=here`));
      const bash = (command: string, more: object = {}) =>
        client.callTool({ name: 'Bash', arguments: { command, ...more } });
      await bash('mkdir sub && cd sub');
      expect(wordsOf(await bash('pwd'))).toContain(`${gateway.work}/sub`);
      const command = 'sleep 64.2';
      await bash(command, { run_in_background: true });
      const runs = () => descendants(process.pid).filter((each) => each.command.includes(command));
      expect(runs()).not.toEqual([]);
      await client.close();
      await until(() => runs().length === 0);
    },
  );

  it('is found by its own key alone, and says what is no message', async () => {
    const gateway = await startVirtual();
    const stop = new AbortController();
    const stream = await fetch(`${gateway.url}/mcp/gateway?model=here`, {
      headers: { ...headers, accept: 'text/event-stream' },
      signal: stop.signal,
    });
    const reader = stream.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    const endpoint = /data: (\S+)/.exec(new TextDecoder().decode(value))?.[1] ?? '';
    const send = (body: unknown, key = 'key-of-alice') =>
      fetch(`${gateway.url}${endpoint}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await send(ping, 'key-of-bob')).status).toBe(404);
    expect((await send({ hello: 1 })).status).toBe(400);
    expect((await send([ping])).status).toBe(400);
    expect((await send(ping)).status).toBe(202);
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('"id":1');
    stop.abort();
    await until(async () => (await send(ping)).status === 404);
  });
});

describe.each([
  ['a program', async () => newestServer('only')],
  ['an address', async () => httpServer((await startNewest('only')).url)],
])('a server of 2026-07-28, %s,', (_kind, start) => {
  it('reports progress, and is told of changed tools without a session', async () => {
    const client = await connected({ new: await start() }, { limits: { refreshEveryMs: 1 } });
    expect(client.status()).toMatchObject([
      { state: 'connected', protocol: NEWEST, serverInfo: { name: 'newest' } },
    ]);
    const steps: number[] = [];
    const done = await client.call(
      'new',
      'progress',
      {},
      { onProgress: ({ progress }) => steps.push(progress) },
    );
    expect([textOf(done), steps]).toEqual(['done', [1, 2]]);
    // The first one may come before the server knows that we listen.
    await until(async () => {
      await client.call('new', 'add');
      return client.tools().some(({ name }) => name.startsWith('mcp__new__added'));
    });
  });

  it('is told when a call is given up, and serves the next', async () => {
    const client = await connected({ new: await start() });
    const control = new AbortController();
    const hanging = client.call('new', 'hang', {}, { signal: control.signal });
    await client.call('new', 'echo', { message: 'first' });
    control.abort(new Error('stopped'));
    await expect(hanging).rejects.toThrow('stopped');
    await until(async () => textOf(await client.call('new', 'cancelled')) === '1');
  });

  it('that dies in a call is noticed, and the call says so', async () => {
    const client = await connected({ new: await start() }, { retries: false });
    const result = await client.call('new', 'die');
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/Whether (?:it|the call) took effect is not known/);
    await until(() => client.status()[0]?.state === 'failed');
  });
});

describe('a server of 2026-07-28 over HTTP', () => {
  it('gets an argument in a header as well, where its schema says so', async () => {
    const { url } = await startNewest('only');
    const client = await connected({ new: httpServer(url) });
    expect(textOf(await client.call('new', 'region', { where: 'north' }))).toBe('north north');
  });

  it('whose connection breaks in a call is still there', async () => {
    const { url } = await startNewest('only');
    const client = await connected({ new: httpServer(url) });
    const result = await client.call('new', 'cut');
    expect(result.isError).toBe(true);
    await until(async () => {
      const echoed = await client.call('new', 'echo', { message: 'again' }).catch(() => undefined);
      return echoed !== undefined && textOf(echoed) === 'Echo: again';
    });
  });

  it('that is restarted is connected to again', async () => {
    const first = await startNewest('only');
    const client = await connected(
      { new: httpServer(first.url) },
      { limits: { retryFirstMs: 1, retryMaxMs: 50, refreshEveryMs: 1 } },
    );
    await first.kill();
    await until(() => client.status()[0]?.state !== 'connected');
    await startNewest('only', first.port);
    await until(() => client.status()[0]?.state === 'connected');
    expect(textOf(await client.call('new', 'echo', { message: 'back' }))).toBe('Echo: back');
  });
});
