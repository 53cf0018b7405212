/** A page makes a name of its own lead to this machine, and so is of the same origin as the gateway. */
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../../support/gateway.js';
import { requestBytes, sendRaw } from '../../support/raw-http.js';
import { corsHeaders, EVERY_ROUTE, send, tokenOf } from '../every-route.js';

describe('a name that was made to lead here', () => {
  it.each<[what: string, headers: Record<string, string>]>([
    ['alone', { host: 'rebound.evil.example' }],
    ['with the port', { host: 'rebound.evil.example:PORT' }],
    ['that begins like ours', { host: 'localhost.evil.example:PORT' }],
    ['that begins with our address', { host: '127.0.0.1.evil.example:PORT' }],
    ['with the page of its own', { host: 'evil.example:PORT', origin: 'http://evil.example:PORT' }],
    ['that the browser calls the same site', { host: 'evil.example:PORT', 'sec-fetch-site': 'same-origin' }],
  ])('%s is refused on every route, also with the token', async (_what, headers) => {
    const gateway = await startTestGateway();
    const authorization = `Bearer ${tokenOf(gateway)}`;
    for (const route of EVERY_ROUTE) {
      const response = await send(gateway, route, { authorization, ...headers });
      expect([route.method, route.path, response.status]).toEqual([route.method, route.path, 403]);
      expect(corsHeaders(response)).toEqual([]);
    }
  });

  it.each(['rebound.evil.example', '127.0.0.1:PORT'])(
    'is refused in the request line too, with the header %s',
    async (host) => {
      const gateway = await startTestGateway();
      for (const path of ['/v1/models', '/api/traces', '/mcp/gateway']) {
        const request = requestBytes(gateway.url, {
          path: `http://rebound.evil.example${path}`,
          headers: {
            host: host.replace('PORT', new URL(gateway.url).port),
            authorization: `Bearer ${tokenOf(gateway)}`,
          },
        });
        expect([400, 403]).toContain((await sendRaw(gateway.url, request)).status);
      }
    },
  );
});
