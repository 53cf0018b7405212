/** E1, E3, E5: being on this machine is no credential. Web pages, other names and sockets get nothing. */
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/server/routes.js';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { openRaw, type RawResponse, requestBytes, sendRaw } from '../support/raw-http.js';

/** All that anybody may ask. A route that is not here needs a key or the console's token. */
const OPEN: readonly string[] = [
  'GET /',
  'HEAD /',
  'HEAD /api/hello',
  'GET /healthz',
  'GET /readyz',
  'POST /api/session',
  'DELETE /api/session',
  'GET /api/mcp/:name/callback',
];

const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
const CLOSED = ROUTES.filter((route) => !OPEN.includes(nameOf(route)));
const OWN = CLOSED.filter(({ path }) => /^\/(?:api|mcp)\//.test(path));
const KEYS = [{ key: 'k-0123456789abcdef', name: 'alice', scopes: ['call', 'approve', 'admin'] }];

const tokenOf = ({ consoleUrl }: TestGateway): string => new URL(consoleUrl).hash.replace('#token=', '');

function send(
  { url }: TestGateway,
  { method, path }: { method: string; path: string },
  headers: Record<string, string> = {},
): Promise<RawResponse> {
  const filled = path.replace(/[:*]\w+/g, 'x');
  const body =
    method === 'POST' ? { body: '{"name":"evil","config":{"type":"stdio","command":"true"}}' } : {};
  const typed = method === 'POST' ? { 'content-type': 'application/json' } : {};
  return sendRaw(
    url,
    requestBytes(url, { method, path: filled, headers: { ...typed, ...headers }, ...body }),
  );
}

const cors = ({ headers }: RawResponse): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control'));

describe('E1: without a credential', () => {
  it('nothing but the probes, the console page and signing in is there, with keys', async () => {
    const gateway = await startTestGateway({ config: { server: { keys: KEYS } } });
    expect(OPEN.filter((name) => !ROUTES.some((route) => nameOf(route) === name))).toEqual([]);
    for (const route of CLOSED) {
      for (const headers of [{}, { authorization: 'Bearer guess' }, { cookie: 'toolgate=guess' }]) {
        const { status } = await send(gateway, route, headers);
        expect([nameOf(route), headers, status]).toEqual([nameOf(route), headers, 401]);
      }
    }
  });

  it('the gateway itself cannot be seen or changed on loopback without keys either', async () => {
    const gateway = await startTestGateway();
    expect(OWN.length).toBeGreaterThan(25);
    for (const route of OWN) {
      for (const headers of [{}, { 'x-api-key': 'anything' }]) {
        const { status } = await send(gateway, route, headers);
        expect([nameOf(route), status]).toEqual([nameOf(route), 401]);
      }
    }
  });

  it('no program is started for whoever asks', async () => {
    const { path } = await tempFolder('toolgate-started');
    const gateway = await startTestGateway();
    const config = { type: 'stdio', command: 'touch', args: [`${path}/started`] };
    for (const headers of [
      {},
      { origin: 'https://evil.example', authorization: `Bearer ${tokenOf(gateway)}` },
    ]) {
      const request = requestBytes(gateway.url, {
        path: '/api/mcp',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ name: 'evil', config }),
      });
      expect((await sendRaw(gateway.url, request)).status).toBeGreaterThanOrEqual(401);
    }
    const listed = await send(
      gateway,
      { method: 'GET', path: '/api/mcp' },
      { authorization: `Bearer ${tokenOf(gateway)}` },
    );
    expect(listed.json()).toMatchObject({ data: [] });
    expect(await readdir(path)).toEqual([]);
  });
});

describe('E1, E3: with the credential, but', () => {
  it.each<[what: string, headers: Record<string, string>]>([
    ['from a page of another origin', { origin: 'https://evil.example' }],
    ['from a page without an origin', { origin: 'null' }],
    ['from another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    [
      'from another site by a form or a link',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    ],
    ['under a name that was made to lead here', { host: 'rebound.evil.example' }],
    ['under such a name with the right port', { host: 'rebound.evil.example:PORT' }],
    ['under a name that begins like ours', { host: 'localhost.evil.example:PORT' }],
    ['under such a name, and from it', { host: 'evil.example:PORT', origin: 'http://evil.example:PORT' }],
  ])('%s, every route refuses and says nothing to the page', async (_what, headers) => {
    const gateway = await startTestGateway();
    const { port } = new URL(gateway.url);
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', port)]),
    );
    const authorization = `Bearer ${tokenOf(gateway)}`;
    for (const route of ROUTES) {
      for (const method of [route.method, 'OPTIONS'] as const) {
        const response = await send(gateway, { ...route, method }, { authorization, ...given });
        expect([method, route.path, response.status]).toEqual([method, route.path, 403]);
        expect(cors(response)).toEqual([]);
      }
    }
  });

  it('with the name in the request line in place of the header', async () => {
    const gateway = await startTestGateway();
    for (const path of ['/v1/models', '/api/traces', '/mcp/gateway']) {
      const request = requestBytes(gateway.url, {
        path: `http://rebound.evil.example${path}`,
        headers: { host: 'rebound.evil.example', authorization: `Bearer ${tokenOf(gateway)}` },
      });
      expect((await sendRaw(gateway.url, request)).status).toBe(403);
    }
  });
});

describe('E5: a socket in place of a request', () => {
  it.each(['websocket', 'h2c', 'anything'])('is not opened by an upgrade to %s', async (protocol) => {
    const gateway = await startTestGateway();
    const headers = {
      connection: 'Upgrade',
      upgrade: protocol,
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
    };
    for (const route of OWN.filter(({ method }) => method === 'GET')) {
      expect([route.path, (await send(gateway, route, headers)).status]).toEqual([route.path, 401]);
      const foreign = {
        ...headers,
        origin: 'https://evil.example',
        authorization: `Bearer ${tokenOf(gateway)}`,
      };
      expect([route.path, (await send(gateway, route, foreign)).status]).toEqual([route.path, 403]);
    }
  });

  it('is not opened by CONNECT', async () => {
    const gateway = await startTestGateway();
    const connection = await openRaw(gateway.url);
    await connection.send('CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: 127.0.0.1:22\r\n\r\n');
    expect((await connection.response()).status).toBeGreaterThanOrEqual(400);
  });
});
