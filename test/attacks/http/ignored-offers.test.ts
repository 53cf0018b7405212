/** A connection is kept open with requests that offer another protocol, and each of them leaves something behind. */
import { expect, it } from 'vitest';
import { startTestGateway } from '../../support/gateway.js';
import { openRaw, requestBytes } from '../../support/raw-http.js';

it.each([
  ['a newer HTTP', { upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA' }],
  ['a WebSocket', { upgrade: 'websocket', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }],
])('offers of %s that are ignored leave no listener on their connection', async (_what, offer) => {
  const { url } = await startTestGateway();
  // Node counts listeners, and warns once there are more than ten of a kind.
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', onWarning);
  const connection = await openRaw(url);
  const headers = { connection: 'Upgrade, HTTP2-Settings', ...offer };
  for (let sent = 0; sent < 20; sent += 1) {
    await connection.send(requestBytes(url, { path: '/healthz', headers }));
    expect((await connection.response()).status).toBe(200);
  }
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});
