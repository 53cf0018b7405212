/** Servers over HTTP that send too much, forget, refuse and lead astray. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { closeAfterTest } from '../support/cleanup.js';
import { deferred } from '../support/gate.js';
import { httpServer, portOf, testClient, textOf } from '../support/mcp-servers.js';

const settle = (): AbortSignal => AbortSignal.timeout(45_000);
const MB = 1024 * 1024;

async function connected(...args: Parameters<typeof testClient>) {
  const client = testClient(...args);
  await client.settled(settle());
  return client;
}

describe('over HTTP', () => {
  type Answer = (body: { id?: number; method?: string }) => {
    status?: number;
    headers?: Record<string, string>;
    body?: string | Iterable<string>;
  };

  async function serve(
    answer: Answer,
  ): Promise<{ url: string; requests: { method: string; headers: NodeJS.Dict<string | string[]> }[] }> {
    const requests: { method: string; headers: NodeJS.Dict<string | string[]> }[] = [];
    const server = createServer(async (request, response) => {
      requests.push({ method: request.method ?? '', headers: request.headers });
      if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
      }
      let text = '';
      for await (const part of request) text += String(part);
      const {
        status = 200,
        headers = { 'content-type': 'application/json' },
        body = '',
      } = answer(JSON.parse(text));
      response.writeHead(status, headers);
      if (typeof body === 'string') response.end(body);
      else {
        response.on('error', () => {}).setMaxListeners(0);
        for (const part of body) {
          if (response.destroyed) return;
          if (!response.write(part)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
        }
        response.end();
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closeAfterTest(() => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `http://127.0.0.1:${portOf(server.address())}/mcp`, requests };
  }

  const say = (id: number | undefined, result: object): string =>
    JSON.stringify({ jsonrpc: '2.0', id, result });
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'small', version: '1' },
  };
  const tools = { tools: [{ name: 'big', description: '', inputSchema: { type: 'object' } }] };
  /** Initialises and lists; a call is answered by `call`. */
  const standard =
    (call: Answer): Answer =>
    (body) => {
      if (body.method === 'initialize') {
        return {
          body: say(body.id, hello),
          headers: { 'content-type': 'application/json', 'mcp-session-id': 's1' },
        };
      }
      if (body.method === 'tools/list') return { body: say(body.id, tools) };
      if (body.method === 'tools/call') return call(body);
      if (body.method === 'server/discover') return { status: 400, body: 'there is no session' };
      return { status: 202 };
    };

  function* endless(): Generator<string> {
    for (;;) yield 'z'.repeat(64 * 1024);
  }

  it.each([
    ['says nothing to', { status: 202 }],
    ['fails at', { status: 500, body: 'oops' }],
    ['does not understand', { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }],
    ['has no place for', { status: 404, body: 'Not found' }],
  ])('a server that %s the question what it speaks is of the older era', async (_what, asked) => {
    const older = standard(({ id }) => ({ body: say(id, { content: [{ type: 'text', text: 'old' }] }) }));
    const { url } = await serve((body) => (body.method === 'server/discover' ? asked : older(body)));
    const client = await connected({ small: httpServer(url) }, { limits: { probeMs: 50 } });
    expect(client.status()).toMatchObject([{ state: 'connected', protocol: '2025-06-18' }]);
    expect(textOf(await client.call('small', 'big'))).toBe('old');
  });

  it.each([
    ['application/json', ''],
    ['text/event-stream', 'id: 1\ndata: '],
  ])('an answer without end, %s, ends the call and nothing else', async (type, start) => {
    let calls = 0;
    const { url } = await serve(
      standard(({ id }) => {
        calls += 1;
        if (calls > 1) return { body: say(id, { content: [{ type: 'text', text: 'small' }] }) };
        return {
          headers: { 'content-type': type },
          body: (function* () {
            yield start;
            yield* endless();
          })(),
        };
      }),
    );
    const client = await connected({ small: httpServer(url) }, { limits: { messageBytes: MB } });
    const result = await client.call('small', 'big');
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('over the limit of 1 MB');
    expect(textOf(await client.call('small', 'big'))).toBe('small');
  });

  it('a call that is given up closes its stream', async () => {
    const started = deferred();
    const closed = deferred();
    const { url } = await serve(
      standard(() => ({
        headers: { 'content-type': 'text/event-stream' },
        body: (function* () {
          try {
            yield 'id: 1\ndata:\n\n';
            started.resolve();
            for (;;) yield `: ${'.'.repeat(64 * 1024)}\n\n`;
          } finally {
            closed.resolve();
          }
        })(),
      })),
    );
    const client = await connected({ small: httpServer(url) });
    const control = new AbortController();
    const call = client.call('small', 'big', {}, { signal: control.signal });
    await started.promise;
    control.abort(new Error('stopped'));
    await expect(call).rejects.toThrow('stopped');
    await closed.promise;
  });

  it('a forgotten session is opened again, and the call made once more', async () => {
    let sessions = 0;
    const { url, requests } = await serve((body) => {
      if (body.method === 'initialize') sessions += 1;
      if (body.method === 'tools/call' && sessions === 1) return { status: 404, body: '{}' };
      return standard(({ id }) => ({ body: say(id, { content: [{ type: 'text', text: 'second' }] }) }))(body);
    });
    const client = await connected({ small: httpServer(url) });
    expect(textOf(await client.call('small', 'big'))).toBe('second');
    expect(sessions).toBe(2);
    expect(requests.length).toBeGreaterThan(5);
  });

  it.each([
    [401, 'needs-auth', /put a token into `headers`/],
    [403, 'failed', /refuses access \(403\)/],
    [404, 'failed', /nothing at this address \(404\)/],
    [405, 'failed', /use `type: sse`/],
    [500, 'failed', /it is failing \(500\)/],
  ])('status %i at the start means %s', async (status, state, problem) => {
    const { url } = await serve(() => ({ status, body: 'no' }));
    const client = await connected({ small: httpServer(url) });
    expect(client.status()).toMatchObject([{ state, problem: expect.stringMatching(problem) }]);
  });

  it('a refused credential of the configuration is said to be one', async () => {
    const { url, requests } = await serve(() => ({ status: 401, body: 'no' }));
    const client = await connected({
      small: httpServer(url, { headers: { Authorization: 'Bearer wrong-one' } }),
    });
    expect(client.status()).toMatchObject([
      { state: 'needs-auth', problem: expect.stringContaining('refuses the credential') },
    ]);
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(client.status())).not.toContain('wrong-one');
  });

  it.each([302, 307, 308])(
    'a redirect (%i) to another origin is not followed with the headers',
    async (status) => {
      const thief = await serve(() => ({ status: 200, body: '{}' }));
      const { url } = await serve(() => ({ status, headers: { location: thief.url } }));
      const client = await connected({ small: httpServer(url, { headers: { 'X-Key': 'precious-key' } }) });
      expect(client.status()).toMatchObject([{ state: 'failed' }]);
      expect(thief.requests).toEqual([]);
    },
  );

  it('the authorisation server of another origin does not get the headers', async () => {
    const elsewhere = await serve(() => ({ status: 500 }));
    const { url } = await serve(() => ({
      status: 401,
      headers: { 'www-authenticate': `Bearer resource_metadata="${new URL('/meta', elsewhere.url)}"` },
    }));
    const client = await connected(
      { small: httpServer(url, { headers: { 'X-Key': 'precious-key' } }) },
      { callbackUrl: () => 'http://127.0.0.1:1/callback' },
    );
    expect(client.status()).toMatchObject([{ state: 'needs-auth' }]);
    expect(elsewhere.requests.length).toBeGreaterThan(0);
    expect(JSON.stringify(elsewhere.requests)).not.toContain('precious-key');
  });

  it.each(['http', 'sse'] as const)('a place where nothing listens is said to be one, %s', async (type) => {
    const { url } = await serve(() => ({ status: 200 }));
    const nowhere = new URL(url);
    nowhere.port = '1';
    const client = await connected({ small: { ...httpServer(nowhere.href), type } });
    expect(client.status()).toMatchObject([
      { state: 'failed', problem: expect.stringContaining('nothing listens there') },
    ]);
  });
});
