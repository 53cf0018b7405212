/** A socket that is opened from any page, because only requests are checked. There is none to open. */
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../../support/gateway.js';
import { openRaw } from '../../support/raw-http.js';
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

  it('is not opened by CONNECT', async () => {
    const gateway = await startTestGateway();
    const connection = await openRaw(gateway.url);
    await connection.send('CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: 127.0.0.1:22\r\n\r\n');
    expect((await connection.response()).status).toBeGreaterThanOrEqual(400);
  });
});
