/** A socket that is opened from any page, because only requests are checked. The one that there is checks them too. */
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../../support/gateway.js';
import { openRaw } from '../../support/raw-http.js';
import { openResponsesSocket, refusedSocket } from '../../support/responses-socket.js';
import { OWN_ROUTES, send, tokenOf } from '../every-route.js';

describe('a socket in place of a request', () => {
  it.each(['websocket', 'h2c', 'anything'])('is not opened by an upgrade to %s', async (protocol) => {
    const gateway = await startTestGateway();
    const upgrade = {
      connection: 'Upgrade',
      upgrade: protocol,
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
    };
    const known = { ...upgrade, authorization: `Bearer ${tokenOf(gateway)}` };
    for (const route of OWN_ROUTES.filter(({ method }) => method === 'GET')) {
      const statuses = [
        (await send(gateway, route, upgrade)).status,
        (await send(gateway, route, { ...known, origin: 'https://evil.example' })).status,
        (await send(gateway, route, known)).status === 101,
      ];
      expect([route.path, ...statuses]).toEqual([route.path, 401, 403, false]);
    }
  });

  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['a file', { origin: 'null' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
    ['a page that hides its origin', { 'sec-fetch-site': 'cross-site' }],
    ['a name that was rebound', { host: 'evil.example' }],
  ])('is not opened to a model by %s', async (_who, headers: Record<string, string>) => {
    const gateway = await startTestGateway();
    expect((await refusedSocket(gateway.url, headers)).status).toBe(403);
    const own = await openResponsesSocket(gateway.url, { origin: gateway.url });
    expect((await own.ask({ model: 'demo', input: 'Hello' })).at(-1)).toMatchObject({
      type: 'response.completed',
    });
  });

  it('is not opened by CONNECT', async () => {
    const gateway = await startTestGateway();
    const connection = await openRaw(gateway.url);
    await connection.send('CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: 127.0.0.1:22\r\n\r\n');
    expect((await connection.response()).status).toBeGreaterThanOrEqual(400);
  });
});
