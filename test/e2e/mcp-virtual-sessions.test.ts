/** The protocol of the virtual servers: whose session it is, how it ends, what becomes of broken connections. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import type { TestGateway } from '../support/gateway.js';
import { descendants } from '../support/processes.js';
import { requestBytes, sendRaw } from '../support/raw-http.js';
import { until } from '../support/until.js';
import {
  api,
  connect,
  decide,
  inWork,
  KEYS,
  lookIn,
  pending,
  stableAddress,
  startVirtual,
  textOf,
} from './mcp-virtual-harness.js';

const ACCEPT = 'application/json, text/event-stream';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

interface RawOptions {
  key?: string;
  path?: string;
  method?: string;
  session?: string;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** As a client that is written by hand. */
function raw({ url }: TestGateway, body: unknown, options: RawOptions = {}): Promise<Response> {
  const {
    key = 'key-of-alice',
    path = '/mcp/gateway?model=here',
    method = 'POST',
    session,
    headers,
  } = options;
  return fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      accept: ACCEPT,
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
      ...headers,
    },
    ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

const figures = async (gateway: TestGateway): Promise<string> =>
  (await raw(gateway, undefined, { method: 'GET', path: '/metrics' })).text();

async function openRaw(gateway: TestGateway, options: RawOptions = {}): Promise<string> {
  const response = await raw(gateway, INITIALIZE, options);
  expect(response.status).toBe(200);
  await response.text();
  const session = response.headers.get('mcp-session-id');
  if (session === null) throw new Error('no session');
  await (await raw(gateway, INITIALIZED, { ...options, session })).text();
  return session;
}

const call = (id: number, name: string, input: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: input },
});

describe('an MCP session', () => {
  it('belongs to the key that opened it', async () => {
    const gateway = await startVirtual();
    const session = await openRaw(gateway);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect(await (await raw(gateway, list, { session })).text()).toContain('inputSchema');
    for (const options of [
      { session, key: 'key-of-bob' },
      { session: 'made-up' },
      { session, path: '/mcp/auth' },
    ]) {
      const refused = await raw(gateway, list, options);
      expect(refused.status).toBe(404);
      expect(await refused.json()).toMatchObject({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32001, message: expect.stringContaining('Send an initialize request') },
      });
    }
    const ended = await raw(gateway, undefined, { method: 'DELETE', session, key: 'key-of-bob' });
    expect(ended.status).toBe(404);
  });

  it('needs the scope call', async () => {
    const gateway = await startVirtual();
    const refused = await raw(gateway, INITIALIZE, { key: 'key-of-eve' });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', error: { data: { type: 'forbidden' } } });
    const unknown = await raw(gateway, INITIALIZE, { key: 'nobody' });
    expect([unknown.status, unknown.headers.get('www-authenticate')]).toEqual([401, expect.any(String)]);
  });

  it('takes the console token where there are no keys', async () => {
    const gateway = await startVirtual({ more: { server: {} } });
    const key = new URL(gateway.consoleUrl).hash.replace('#token=', '');
    const { client } = await connect(gateway, { key });
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    expect((await raw(gateway, INITIALIZE, { key: 'anything' })).status).toBe(401);
  });

  it('starts where the model entry says, and says what is wrong with it', async () => {
    const gateway = await startVirtual({ more: { upstreams: {}, models: { m: { upstream: 'demo' } } } });
    const relay = await raw(gateway, INITIALIZE, { path: '/mcp/gateway?model=m' });
    expect([relay.status, await relay.text()]).toEqual([400, expect.stringContaining('engine native')]);
    const none = await raw(gateway, INITIALIZE, { path: '/mcp/gateway?model=none' });
    expect([none.status, await none.text()]).toEqual([404, expect.stringContaining('not configured')]);
    const { client } = await connect(gateway, { query: '' });
    const where = await client.callTool({ name: 'Bash', arguments: { command: 'pwd' } });
    expect(textOf(where)).toContain(process.cwd());
  });

  it('ends with DELETE, and takes its commands with it', async () => {
    const gateway = await startVirtual();
    const { client, transport } = await connect(gateway);
    const command = 'sleep 62.3';
    await client.callTool({ name: 'Bash', arguments: { command, run_in_background: true } });
    const runs = () => descendants(process.pid).filter((each) => each.command.includes(command));
    expect(runs()).not.toEqual([]);
    await transport.terminateSession();
    expect(runs()).toEqual([]);
    await expect(client.listTools()).rejects.toThrow();
  });

  it('that is not used for long ends, and the client is told how to go on', async () => {
    const gateway = await startVirtual({ limits: { idleMs: 1, sweepMs: 5 } });
    const session = await openRaw(gateway);
    // A use is what keeps it: the pause between two looks is longer than a sweep.
    await until(async () => (await raw(gateway, INITIALIZED, { session })).status === 404);
    expect(await openRaw(gateway)).not.toBe(session);
  });

  it('makes room for another one of its key, never for one of somebody else', async () => {
    const gateway = await startVirtual({ limits: { sessionsOfKey: 2 } });
    const bobs = await openRaw(gateway, { key: 'key-of-bob' });
    const [first, second] = [await openRaw(gateway), await openRaw(gateway)];
    await (await raw(gateway, { jsonrpc: '2.0', id: 5, method: 'ping' }, { session: first })).text();
    const third = await openRaw(gateway);
    const status = async (session: string, key?: string) =>
      (await raw(gateway, INITIALIZED, { session, ...(key === undefined ? {} : { key }) })).status;
    expect(await status(second)).toBe(404);
    expect(await status(first)).toBe(202);
    expect(await status(third)).toBe(202);
    expect(await status(bobs, 'key-of-bob')).toBe(202);
  });

  it('in use is not given up for another one', async () => {
    const gateway = await startVirtual({ limits: { sessionsOfKey: 1 } });
    const { client } = await connect(gateway);
    // The stream for news is open from now on.
    await client.listTools();
    const refused = await raw(gateway, INITIALIZE);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('DELETE') } });
  });

  it('is unknown after a restart, and the client begins anew', async () => {
    const address = await stableAddress();
    const more = { server: { keys: KEYS, public_hosts: [address.host] } };
    const gateway = await startVirtual({ more });
    address.leadTo(gateway);
    const { client } = await connect(address);
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    await gateway.close();
    address.leadTo(await startVirtual({ more }));
    const refused = await client.listTools().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StreamableHTTPError);
    expect(refused).toMatchObject({
      code: 404,
      message: expect.stringContaining('Send an initialize request'),
    });
    const again = await connect(address);
    expect((await again.client.listTools()).tools.length).toBeGreaterThan(5);
  });
});

describe('a client of an older revision', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'gets the one it asks for (%s)',
    async (version) => {
      const gateway = await startVirtual();
      const initialize = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: version } };
      const opened = await raw(gateway, initialize);
      expect(await opened.text()).toContain(`"protocolVersion":"${version}"`);
      const session = opened.headers.get('mcp-session-id') ?? '';
      await (await raw(gateway, INITIALIZED, { session })).text();
      const answer = await (await raw(gateway, call(2, 'Bash', { command: 'echo old' }), { session })).text();
      expect(answer).toContain('old');
      expect(answer).not.toContain('resultType');
    },
  );

  it('that is not known is offered the newest that has sessions', async () => {
    const gateway = await startVirtual();
    const initialize = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: '1999-01-01' } };
    expect(await (await raw(gateway, initialize)).text()).toContain('"protocolVersion":"2025-11-25"');
  });
});

describe('requests that are wrong', () => {
  it('get a parse error for what is no JSON', async () => {
    const gateway = await startVirtual();
    for (const body of ['{"jsonrpc": ', '\u0000', '', '[1,']) {
      const response = await raw(gateway, body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } });
    }
    const session = await openRaw(gateway);
    const shapeless = await raw(gateway, { hello: 'world' }, { session });
    expect(await shapeless.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } });
  });

  it('get a JSON-RPC error for every other reason too', async () => {
    const gateway = await startVirtual({
      more: { server: { keys: KEYS, body_limit_mb: 0.01 } },
    });
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await raw(gateway, list)).status).toBe(400);
    expect((await raw(gateway, INITIALIZE, { headers: { accept: 'text/html' } })).status).toBe(406);
    expect((await raw(gateway, INITIALIZE, { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect((await raw(gateway, { ...INITIALIZE, pad: 'x'.repeat(20_000) })).status).toBe(413);
    const unknown = await raw(gateway, list, { path: '/mcp/elsewhere' });
    expect([unknown.status, await unknown.json()]).toMatchObject([
      404,
      { jsonrpc: '2.0', error: { message: expect.stringContaining('/mcp/gateway and /mcp/auth') } },
    ]);
    for (const method of ['PUT', 'PATCH', 'HEAD', 'OPTIONS']) {
      const response = await raw(gateway, undefined, { method });
      expect([method, response.status]).toEqual([method, 405]);
      expect(response.headers.get('allow')).toContain('POST');
    }
    const foreign = requestBytes(gateway.url, {
      method: 'POST',
      path: '/mcp/gateway',
      headers: { authorization: 'Bearer key-of-alice', origin: 'https://evil.example' },
      body: '{}',
    });
    const refused = await sendRaw(gateway.url, foreign);
    expect([refused.status, refused.json()]).toMatchObject([403, { jsonrpc: '2.0', id: null }]);
  });
});

describe('an MCP request id', () => {
  it('is refused while its first request runs, which is answered all the same', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    await lookIn(gateway);
    const session = await openRaw(gateway);
    const first = await raw(gateway, call(7, 'Bash', { command: 'echo first' }), { session });
    const approval = await pending(gateway);
    const second = await raw(gateway, call(7, 'Bash', { command: 'echo second' }), { session });
    expect([second.status, await second.json()]).toMatchObject([
      400,
      { jsonrpc: '2.0', id: null, error: { message: expect.stringContaining('The id 7 is in use') } },
    ]);
    await decide(gateway, approval, { decision: 'allow' });
    expect(await first.text()).toContain('first');
    const again = await raw(gateway, { jsonrpc: '2.0', id: 7, method: 'ping' }, { session });
    expect(await again.text()).toContain('"id":7');
  });

  it('of two requests that come at once is only one of theirs', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    await lookIn(gateway);
    const session = await openRaw(gateway);
    const asked = call(7, 'Bash', { command: 'echo x' });
    const both = await Promise.all([asked, asked].map((body) => raw(gateway, body, { session })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    await decide(gateway, await pending(gateway), { decision: 'deny' });
    await Promise.all(both.map((response) => response.text()));
  });

  it.each(['2025-03-26', '2025-11-25'])('that is cancelled ends its stream (%s)', async (version) => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    await lookIn(gateway);
    const session = await openRaw(gateway);
    const headers = { 'mcp-protocol-version': version };
    const first = await raw(gateway, call(7, 'Bash', { command: 'echo x' }), { session, headers });
    await pending(gateway);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    expect((await raw(gateway, cancel, { session, headers })).status).toBe(202);
    expect(await first.text()).toContain('"code":-32800');
  });
});

describe('a connection that breaks', () => {
  it('loses nothing when the client comes back in time', async () => {
    const reconnectMs = 2000;
    const gateway = await startVirtual({ permissions: { mode: 'ask' }, limits: { reconnectMs } });
    await lookIn(gateway);
    const session = await openRaw(gateway);
    const controller = new AbortController();
    const headers = { 'mcp-protocol-version': '2025-11-25' };
    const broken = await raw(gateway, call(7, 'Bash', { command: 'echo kept' }), {
      session,
      headers,
      signal: controller.signal,
    });
    const reader = broken.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    const last = /^id: (\d+)$/m.exec(first)?.[1] ?? '';
    const approval = await pending(gateway);
    controller.abort();
    // Until the gateway has noticed, somebody reads it already. The request for the figures is open itself.
    await until(async () => /^toolgate_open_requests 1$/m.test(await figures(gateway)));
    const resumed = await raw(gateway, undefined, {
      method: 'GET',
      session,
      headers: { ...headers, 'last-event-id': last },
    });
    expect(resumed.status).toBe(200);
    // The time in which it had to come back passes, and nothing is given up.
    await once(AbortSignal.timeout(reconnectMs + 300), 'abort');
    expect((await decide(gateway, approval, { decision: 'allow' })).status).toBe(200);
    const words = resumed.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('"id":7')) text += (await words?.read())?.value ?? '';
    expect(text).toContain('kept');
    await words?.cancel();
  });

  it('withdraws its question when the client does not', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' }, limits: { reconnectMs: 20 } });
    await lookIn(gateway);
    const session = await openRaw(gateway);
    const controller = new AbortController();
    await raw(gateway, call(7, 'Bash', { command: 'echo x' }), { session, signal: controller.signal });
    const approval = await pending(gateway);
    controller.abort();
    const decided = await until(async () => {
      const { json } = await api(gateway, `/api/approvals/${String(approval['id'])}`);
      return json['state'] !== 'pending' && json['state'];
    });
    expect(decided).toBe('cancelled');
  });

  it('leaves the question open when it is the gateway that stops', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    await lookIn(gateway);
    const { client } = await connect(gateway);
    const calling = client.callTool({ name: 'Bash', arguments: { command: 'echo x' } });
    const approval = await pending(gateway);
    await Promise.all([
      gateway.close(),
      expect(calling.then(textOf)).resolves.toContain('the gateway is stopping'),
    ]);
    const again = await startVirtual({ permissions: { mode: 'ask' }, gatewayFolder: gateway.folder });
    const { json } = await api(again, `/api/approvals/${String(approval['id'])}`);
    expect(json['state']).toBe('pending');
  });

  it('does not hold up a gateway that stops', async () => {
    const gateway = await startVirtual({ more: { server: { keys: KEYS, drain_s: 3600 } } });
    await writeFile(inWork(gateway, 'a'), '');
    const { client } = await connect(gateway);
    await client.listTools();
    await gateway.close();
    await expect(client.listTools()).rejects.toThrow();
  });

  it('of one client is nothing to another', async () => {
    const gateway = await startVirtual({ limits: { reconnectMs: 20 } });
    const [one, two] = [await openRaw(gateway), await connect(gateway, { key: 'key-of-bob' })];
    const controller = new AbortController();
    const slow = two.client.callTool({ name: 'Bash', arguments: { command: 'sleep 0.3; echo two' } });
    await raw(gateway, call(3, 'Bash', { command: 'sleep 63' }), { session: one, signal: controller.signal });
    controller.abort();
    expect(textOf(await slow)).toContain('two');
  });
});
