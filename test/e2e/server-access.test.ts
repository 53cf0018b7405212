/** Who may ask what, and from where: the tables of the contract, on real sockets. */
import { describe, expect, it } from 'vitest';
import { requestBytes, sendRaw } from '../support/raw-http.js';
import { PAGE } from '../support/sign-in-world.js';
import { JSON_HEADERS, MESSAGES, startServer, type TestServer, turnBytes } from './server-harness.js';

const KEYS = [
  { key: 'key-admin', name: 'root', scopes: ['call', 'approve', 'admin'], models: ['*'] },
  { key: 'key-bob', name: 'bob', scopes: ['call'], models: ['gpt-*'] },
  { key: 'key-eve', name: 'eve', scopes: ['approve'], models: ['*'] },
] as const;

type Who = 'nobody' | 'wrong' | 'root' | 'bob' | 'eve';

const CREDENTIALS: Readonly<Record<Who, Record<string, string>>> = {
  nobody: {},
  wrong: { authorization: 'Bearer key-wrong' },
  root: { 'x-api-key': 'key-admin' },
  bob: { authorization: 'Bearer key-bob' },
  eve: { authorization: 'Bearer key-eve' },
};

const ROUTES = {
  turn: { method: 'POST', path: '/v1/messages', body: JSON.stringify(MESSAGES) },
  count: { method: 'POST', path: '/v1/messages/count_tokens', body: JSON.stringify(MESSAGES) },
  chat: { method: 'POST', path: '/v1/chat/completions', body: JSON.stringify(MESSAGES) },
  models: { method: 'GET', path: '/v1/models' },
  responses: { method: 'POST', path: '/v1/responses', body: '{"model":"m","input":"hi","store":false}' },
  traces: { method: 'GET', path: '/api/traces' },
  usage: { method: 'GET', path: '/api/usage' },
  session: { method: 'GET', path: '/api/session' },
  approvals: { method: 'GET', path: '/api/approvals' },
  addServer: { method: 'POST', path: '/api/mcp', body: '{}' },
  mcp: { method: 'POST', path: '/mcp/gateway', body: '{}' },
  metrics: { method: 'GET', path: '/metrics' },
  health: { method: 'GET', path: '/healthz' },
  ready: { method: 'GET', path: '/readyz' },
  probe: { method: 'HEAD', path: '/' },
  hello: { method: 'HEAD', path: '/api/hello' },
} as const;

const statusOf = async (url: string, route: keyof typeof ROUTES, headers: Record<string, string>) => {
  const { method, path, ...rest } = ROUTES[route];
  const request = requestBytes(url, { method, path, headers: { ...JSON_HEADERS, ...headers }, ...rest });
  return (await sendRaw(url, request)).status;
};

describe('with keys', () => {
  it.each<[keyof typeof ROUTES, Record<Who, number>]>([
    ['turn', { nobody: 401, wrong: 401, root: 200, bob: 200, eve: 403 }],
    ['count', { nobody: 401, wrong: 401, root: 200, bob: 200, eve: 403 }],
    ['chat', { nobody: 401, wrong: 401, root: 200, bob: 200, eve: 403 }],
    ['models', { nobody: 401, wrong: 401, root: 200, bob: 200, eve: 403 }],
    ['responses', { nobody: 401, wrong: 401, root: 200, bob: 200, eve: 403 }],
    ['traces', { nobody: 401, wrong: 401, root: 200, bob: 200, eve: 200 }],
    ['usage', { nobody: 401, wrong: 401, root: 200, bob: 200, eve: 200 }],
    ['session', { nobody: 401, wrong: 401, root: 200, bob: 200, eve: 200 }],
    ['approvals', { nobody: 401, wrong: 401, root: 200, bob: 403, eve: 200 }],
    ['addServer', { nobody: 401, wrong: 401, root: 400, bob: 403, eve: 403 }],
    ['mcp', { nobody: 401, wrong: 401, root: 404, bob: 404, eve: 403 }],
    ['metrics', { nobody: 401, wrong: 401, root: 200, bob: 200, eve: 200 }],
    ['health', { nobody: 200, wrong: 200, root: 200, bob: 200, eve: 200 }],
    ['ready', { nobody: 200, wrong: 200, root: 200, bob: 200, eve: 200 }],
    ['probe', { nobody: 200, wrong: 200, root: 200, bob: 200, eve: 200 }],
    ['hello', { nobody: 200, wrong: 200, root: 200, bob: 200, eve: 200 }],
  ])('%s', async (route, expected) => {
    const { url } = await startServer({ keys: KEYS });
    for (const [who, headers] of Object.entries(CREDENTIALS)) {
      expect([who, await statusOf(url, route, headers)]).toEqual([who, Reflect.get(expected, who)]);
    }
  });

  it('a refusal says so in the dialect, and how to authenticate', async () => {
    const { url } = await startServer({ keys: KEYS });
    const anthropic = await sendRaw(url, turnBytes(url));
    expect(anthropic.headers['www-authenticate']).toBe('Bearer realm="toolgate"');
    expect(anthropic.json()).toMatchObject({
      type: 'error',
      error: {
        type: 'authentication_error',
        message: 'No API key was given. Send one as "authorization: Bearer" or "x-api-key".',
      },
    });
    const openai = await sendRaw(url, turnBytes(url, {}, '/v1/chat/completions', CREDENTIALS.wrong));
    expect(openai.status).toBe(401);
    expect(openai.json()).toMatchObject({
      error: { message: expect.stringContaining('The API key is not known to this gateway: ') },
    });
  });

  it('the engine is told who asks, and not with what', async () => {
    const { url, calls } = await startServer({ keys: KEYS });
    await sendRaw(url, turnBytes(url, {}, '/v1/messages', CREDENTIALS.bob));
    expect(calls[0]?.principal).toEqual({ name: 'bob', scopes: ['call'], models: ['gpt-*'] });
    expect(JSON.stringify(calls[0]?.headers)).not.toContain('key-bob');
  });

  it('a key sees the models that it may call', async () => {
    const { url } = await startServer({ keys: KEYS });
    const list = await sendRaw(url, requestBytes(url, { path: '/v1/models', headers: CREDENTIALS.bob }));
    expect(list.json()).toMatchObject({ data: [{ id: 'gpt-5' }] });
    const other = requestBytes(url, { path: '/v1/models/claude-x', headers: CREDENTIALS.bob });
    expect((await sendRaw(url, other)).status).toBe(404);
  });

  it('a key over its rate gets 429 with the time to wait', async () => {
    const { url } = await startServer({ keys: [{ ...KEYS[0], rpm: 2 }] });
    const request = turnBytes(url, {}, '/v1/messages', CREDENTIALS.root);
    expect((await sendRaw(url, request)).status).toBe(200);
    expect((await sendRaw(url, request)).status).toBe(200);
    const refused = await sendRaw(url, request);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.json()).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
  });

  it('a key signs in to the console', async () => {
    const { url, server } = await startServer({ keys: KEYS });
    expect(server.consoleToken).toBeUndefined();
    const cookie = await signIn(url, 'key-bob');
    expect(await statusOf(url, 'session', { cookie, ...PAGE })).toBe(200);
    for (const half of [{ cookie }, PAGE]) expect(await statusOf(url, 'session', half)).toBe(401);
    expect(await statusOf(url, 'turn', { cookie, ...PAGE })).toBe(200);
    expect(await statusOf(url, 'addServer', { cookie, ...PAGE })).toBe(403);
  });
});

async function signIn(url: string, token: string): Promise<string> {
  const request = requestBytes(url, {
    path: '/api/session',
    headers: { ...JSON_HEADERS, ...PAGE },
    body: JSON.stringify({ token }),
  });
  const response = await sendRaw(url, request);
  expect(response.status).toBe(200);
  return response.headers['set-cookie']?.split(';')[0] ?? '';
}

describe('without keys', () => {
  const OPEN = ['turn', 'count', 'chat', 'models', 'metrics', 'health', 'ready', 'probe', 'hello'] as const;
  const CLOSED = ['traces', 'usage', 'session'] as const;

  it.each([
    ['none', {}],
    ['any bearer', { authorization: 'Bearer whatever' }],
    ['any key', { 'x-api-key': 'whatever' }],
  ])('models take %s; the console does not', async (_what, headers) => {
    const { url } = await startServer();
    for (const route of OPEN) expect([route, await statusOf(url, route, headers)]).toEqual([route, 200]);
    for (const route of CLOSED) expect([route, await statusOf(url, route, headers)]).toEqual([route, 401]);
    expect(await statusOf(url, 'mcp', headers)).toBe(401);
    expect(await statusOf(url, 'approvals', headers)).toBe(401);
  });

  it.each(['bearer', 'x-api-key', 'cookie'])('the token opens the console as %s', async (how) => {
    const { url, token } = await startServer();
    const headers: Record<string, string> =
      how === 'bearer'
        ? { authorization: `Bearer ${token}` }
        : how === 'cookie'
          ? { cookie: await signIn(url, token), ...PAGE }
          : { 'x-api-key': token };
    for (const route of CLOSED) expect([route, await statusOf(url, route, headers)]).toEqual([route, 200]);
    expect(await statusOf(url, 'addServer', headers)).toBe(400);
  });

  it('the token can be exchanged again, each time for another cookie', async () => {
    const { url, token } = await startServer();
    const [first, second] = [await signIn(url, token), await signIn(url, token)];
    expect(first).not.toBe(second);
    expect(first).not.toContain(token);
    for (const cookie of [first, second])
      expect(await statusOf(url, 'session', { cookie, ...PAGE })).toBe(200);
  });

  it('a wrong token is refused, and so is a body without one', async () => {
    const { url } = await startServer();
    const post = (body: string) =>
      sendRaw(url, requestBytes(url, { path: '/api/session', headers: JSON_HEADERS, body }));
    expect((await post('{"token":"guess"}')).status).toBe(401);
    expect((await post('{"token":1}')).json()).toMatchObject({
      error: { type: 'invalid_request', message: 'token: expected a string.', param: 'token' },
    });
    expect((await post('[]')).status).toBe(400);
  });

  it('signing out ends the session', async () => {
    const { url, token } = await startServer();
    const cookie = await signIn(url, token);
    const out = await sendRaw(
      url,
      requestBytes(url, { method: 'DELETE', path: '/api/session', headers: { cookie, ...PAGE } }),
    );
    expect([out.status, out.headers['set-cookie']]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect(out.headers['clear-site-data']).toBe('"cache"');
    expect(await statusOf(url, 'session', { cookie, ...PAGE })).toBe(401);
  });

  it('the session says who it is', async () => {
    const { url, token } = await startServer();
    const headers = { authorization: `Bearer ${token}` };
    const response = await sendRaw(url, requestBytes(url, { path: '/api/session', headers }));
    expect(response.json()).toEqual({ name: 'local', scopes: ['call', 'approve', 'admin'], models: ['*'] });
    expect(response.headers['cache-control']).toBe('no-store');
  });
});

describe('the Host header', () => {
  const portOf = ({ url }: TestServer) => new URL(url).port;
  const PATHS = ['/v1/models', '/healthz', '/api/session', '/', '/nowhere', '/metrics'];

  it.each([
    ['localhost:PORT', true],
    ['LOCALHOST:PORT', true],
    ['127.0.0.1:PORT', true],
    ['[::1]:PORT', true],
    ['localhost', true],
    ['gateway.example', true],
    ['gateway.example:8443', true],
    ['other.example:444', true],
    ['other.example', false],
    ['other.example:445', false],
    ['evil.example', false],
    ['evil.example:PORT', false],
    ['localhost.evil.example:PORT', false],
    ['localhost:1', false],
    ['127.0.0.1:1', false],
    ['127.0.0.2:PORT', false],
    ['localhost:PORT@evil.example', false],
    ['x.localhost:PORT', false],
  ])('%s on loopback', async (host, known) => {
    const server = await startServer({ publicHosts: ['gateway.example', 'Other.example:444'] });
    for (const path of PATHS) {
      const headers = { host: host.replace('PORT', portOf(server)) };
      const { status, json } = await sendRaw(server.url, requestBytes(server.url, { path, headers }));
      expect([path, status === 403]).toEqual([path, !known]);
      if (!known) expect(JSON.stringify(json())).toContain('The Host header names another server.');
    }
  });

  it('must be there, once', async () => {
    const { url } = await startServer();
    const send = (lines: string) => sendRaw(url, `GET /v1/models ${lines}\r\n\r\n`);
    expect((await send('HTTP/1.1')).status).toBe(400);
    expect((await send('HTTP/1.1\r\nhost:')).status).toBe(400);
    expect((await send('HTTP/1.1\r\nHost: localhost\r\nhost: localhost')).status).toBe(400);
    expect((await send('HTTP/1.0')).status).toBe(200);
  });

  it('may be any where keys protect the gateway', async () => {
    const { url } = await startServer({ keys: KEYS, loopback: false });
    const headers = { ...CREDENTIALS.root, host: 'any.example' };
    expect((await sendRaw(url, requestBytes(url, { path: '/v1/models', headers }))).status).toBe(200);
  });
});

describe('web pages of another origin', () => {
  const REFUSED = [
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:1' },
    { origin: 'http://evil.example:PORT' },
    { origin: 'null' },
    { origin: 'file://' },
    { origin: 'chrome-extension://abc' },
    { origin: 'http://localhost:PORT' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    { origin: 'http://127.0.0.1:PORT', 'sec-fetch-site': 'cross-site' },
  ];
  const ALLOWED = [
    {},
    { origin: 'http://127.0.0.1:PORT' },
    { origin: 'https://127.0.0.1:PORT', 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
    { 'sec-fetch-mode': 'cors' },
    { origin: 'https://gateway.example' },
  ];
  const REQUESTS = [
    ['POST', '/v1/messages'],
    ['POST', '/v1/chat/completions'],
    ['GET', '/v1/models'],
    ['HEAD', '/'],
    ['GET', '/'],
    ['GET', '/healthz'],
    ['GET', '/metrics'],
    ['GET', '/api/session'],
    ['POST', '/api/session'],
    ['OPTIONS', '/v1/messages'],
    ['OPTIONS', '/api/session'],
    ['GET', '/nowhere'],
  ] as const;

  const send = async ({ url }: TestServer, method: string, path: string, given: object) => {
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, String(value).replace('PORT', new URL(url).port)]),
    );
    return sendRaw(url, requestBytes(url, { method, path, headers }));
  };

  it.each(REFUSED)('%j is refused everywhere', async (headers) => {
    const server = await startServer();
    for (const [method, path] of REQUESTS) {
      const response = await send(server, method, path, headers);
      expect([method, path, response.status]).toEqual([method, path, 403]);
      expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    expect(server.calls).toHaveLength(0);
  });

  it.each(ALLOWED)('%j is not', async (headers) => {
    const server = await startServer({ publicHosts: ['gateway.example'] });
    for (const [method, path] of REQUESTS) {
      const response = await send(server, method, path, headers);
      expect([method, path, response.status === 403]).toEqual([method, path, false]);
      expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('are told so in the dialect', async () => {
    const server = await startServer();
    const anthropic = await send(server, 'POST', '/v1/messages', { origin: 'https://evil.example' });
    expect(anthropic.json()).toMatchObject({ type: 'error', error: { type: 'permission_error' } });
    const openai = await send(server, 'OPTIONS', '/v1/chat/completions', { origin: 'https://evil.example' });
    expect(openai.json()).toMatchObject({ error: { param: null } });
  });
});
