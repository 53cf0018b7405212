/** Whoever reaches the port, or any web page, gets what the gateway can do. Loopback is no credential. */
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/cleanup.js';
import { startTestGateway } from '../../support/gateway.js';
import { requestBytes, sendRaw } from '../../support/raw-http.js';
import {
  CLOSED_ROUTES,
  corsHeaders,
  EVERY_ROUTE,
  nameOf,
  OPEN_ROUTES,
  OWN_ROUTES,
  send,
  tokenOf,
} from '../every-route.js';

const KEYS = [{ key: 'k-0123456789abcdef', name: 'alice', scopes: ['call', 'approve', 'admin'] }];

describe('without a credential', () => {
  it('nothing but the probes, the console page and signing in is there, with keys', async () => {
    const gateway = await startTestGateway({ config: { server: { keys: KEYS } } });
    expect(OPEN_ROUTES.filter((name) => !EVERY_ROUTE.some((route) => nameOf(route) === name))).toEqual([]);
    for (const route of CLOSED_ROUTES) {
      for (const headers of [{}, { authorization: 'Bearer guess' }, { cookie: 'toolgate=guess' }]) {
        const { status } = await send(gateway, route, headers);
        expect([nameOf(route), headers, status]).toEqual([nameOf(route), headers, 401]);
      }
    }
  });

  it('the gateway itself cannot be seen or changed on loopback without keys either', async () => {
    const gateway = await startTestGateway();
    expect(OWN_ROUTES.length).toBeGreaterThan(25);
    for (const route of OWN_ROUTES) {
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

describe('with the credential, but', () => {
  it.each<[what: string, headers: Record<string, string>]>([
    ['from a page of another origin', { origin: 'https://evil.example' }],
    ['from a page without an origin', { origin: 'null' }],
    ['from another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    [
      'from another site by a form or a link',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    ],
  ])('%s, every route refuses and says nothing to the page', async (_what, headers) => {
    const gateway = await startTestGateway();
    const authorization = `Bearer ${tokenOf(gateway)}`;
    for (const { method, path } of EVERY_ROUTE) {
      for (const asked of [method, 'OPTIONS']) {
        const response = await send(gateway, { method: asked, path }, { authorization, ...headers });
        expect([asked, path, response.status]).toEqual([asked, path, 403]);
        expect(corsHeaders(response)).toEqual([]);
      }
    }
  });
});
