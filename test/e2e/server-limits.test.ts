/** Bodies that are too large, too slow or packed too tight; and connections that stay right afterwards. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gate, turnOfLoop } from '../support/gate.js';
import { openRaw, requestBytes, sendRaw } from '../support/raw-http.js';
import { answerOf, HELLO, JSON_HEADERS, MESSAGES, startServer, turnBytes } from './server-harness.js';

const KIB = 1024;
const SMALL = { bodyBytes: 64 * KIB };
const TOO_LARGE = {
  type: 'error',
  error: {
    type: 'request_too_large',
    message: 'The body is larger than 0.06 MiB. Send less, or raise server.body_limit_mb.',
  },
};

const head = (url: string, headers: Readonly<Record<string, string>>) =>
  requestBytes(url, { method: 'POST', path: '/v1/messages', headers: { ...JSON_HEADERS, ...headers } });

describe('bodies over the limit', () => {
  it('are refused by their length, before anything of them is read', async () => {
    const { url, calls } = await startServer({ limits: SMALL });
    const response = await sendRaw(url, head(url, { 'content-length': String(65 * KIB) }));
    expect(response.status).toBe(413);
    expect(response.headers['connection']).toBe('close');
    expect(response.json()).toMatchObject(TOO_LARGE);
    expect(calls).toHaveLength(0);
  });

  it('are refused while they are read, when no length was given', async () => {
    const { url } = await startServer({ limits: SMALL });
    const connection = await openRaw(url);
    await connection.send(head(url, { 'transfer-encoding': 'chunked' }));
    const chunk = Buffer.concat([Buffer.from('4000\r\n'), Buffer.alloc(16 * KIB, 0x20), Buffer.from('\r\n')]);
    for (let sent = 0; sent < 5; sent++) await connection.send(chunk);
    const response = await connection.response();
    expect(response.status).toBe(413);
    expect(response.json()).toMatchObject(TOO_LARGE);
  });

  it('do not reset the connection under a client that sends everything before it reads', async () => {
    const { url } = await startServer({ limits: SMALL });
    const connection = await openRaw(url);
    const size = 20 * KIB * KIB;
    await connection.send(head(url, { 'content-length': String(size) }), Buffer.alloc(size, 0x20));
    const response = await connection.response();
    expect(response.status).toBe(413);
    await connection.until(() => false);
    expect(connection.ended).toBe('closed');
  });

  it('end the connection of a client that never stops sending', async () => {
    const { url } = await startServer({ limits: { ...SMALL, lingerMs: 20 } });
    const connection = await openRaw(url);
    await connection.send(head(url, { 'transfer-encoding': 'chunked' }));
    const chunk = Buffer.concat([Buffer.from('4000\r\n'), Buffer.alloc(16 * KIB, 0x20), Buffer.from('\r\n')]);
    while (connection.ended === 'no') await connection.send(chunk);
    expect(connection.received.toString('latin1')).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('are not even sent by a client that asks first', async () => {
    const { url } = await startServer({ limits: SMALL });
    const response = await sendRaw(url, head(url, { 'content-length': '1000000', expect: '100-continue' }));
    expect(response.status).toBe(413);
    expect(response.headers['connection']).toBe('close');
  });

  it('that fit are asked for', async () => {
    const { url } = await startServer({ limits: SMALL });
    const body = JSON.stringify(MESSAGES);
    const connection = await openRaw(url);
    await connection.send(head(url, { 'content-length': String(body.length), expect: '100-continue' }));
    await connection.until(() => connection.received.includes('\r\n\r\n'));
    expect(connection.received.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    await connection.send(body);
    await connection.until(() => connection.received.includes('HTTP/1.1 200 OK'));
    expect(connection.received.includes('HTTP/1.1 200 OK')).toBe(true);
  });

  it('takes a body of exactly the limit', async () => {
    const { url } = await startServer({ limits: SMALL });
    const body = JSON.stringify(MESSAGES).padEnd(64 * KIB);
    expect((await sendRaw(url, head(url, { 'content-length': String(body.length) }), body)).status).toBe(200);
  });
});

describe('packed bodies', () => {
  const json = JSON.stringify(MESSAGES);

  it.each<[string, Buffer]>([
    ['gzip', gzipSync(json)],
    ['x-gzip', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['deflate', deflateRawSync(json)],
    ['br', brotliCompressSync(json)],
    ['identity', Buffer.from(json)],
    ['GZip', gzipSync(json)],
  ])('%s is unpacked, and the engine gets the plain bytes', async (encoding, body) => {
    const { url, calls } = await startServer();
    const headers = { ...JSON_HEADERS, 'content-encoding': encoding };
    const response = await sendRaw(url, requestBytes(url, { path: '/v1/messages', headers, body }));
    expect(response.status).toBe(200);
    expect(Buffer.from(calls[0]?.raw ?? []).toString()).toBe(json);
    expect(calls[0]?.headers['content-encoding']).toBeUndefined();
  });

  it.each<[string, Buffer]>([
    ['gzip', gzipSync(Buffer.alloc(16 * KIB * KIB, 0x20))],
    ['deflate', deflateSync(Buffer.alloc(16 * KIB * KIB, 0x20))],
    ['br', brotliCompressSync(Buffer.alloc(16 * KIB * KIB, 0x20))],
  ])('%s that unpacks to more than the limit is refused', async (encoding, body) => {
    const { url } = await startServer({ limits: SMALL });
    const headers = { ...JSON_HEADERS, 'content-encoding': encoding };
    const response = await sendRaw(url, requestBytes(url, { path: '/v1/messages', headers, body }));
    expect(response.status).toBe(413);
    expect(response.json()).toMatchObject(TOO_LARGE);
  });

  it.each(['gzip', 'deflate', 'br'])('%s that is none is refused', async (encoding) => {
    const { url } = await startServer();
    const headers = { ...JSON_HEADERS, 'content-encoding': encoding };
    const response = await sendRaw(url, requestBytes(url, { path: '/v1/messages', headers, body: 'x{}' }));
    expect(response.status).toBe(400);
    expect(response.json()).toMatchObject({ error: { message: `The body is not valid ${encoding} data.` } });
  });
});

describe('slow clients', () => {
  it('a head that never ends is answered with 408', async () => {
    const { url } = await startServer({ limits: { headersMs: 1000, checkMs: 10 } });
    const connection = await openRaw(url);
    await connection.send('POST /v1/messages HTTP/1.1\r\nhost: x\r\n');
    const response = await connection.response();
    expect(response.status).toBe(408);
    expect(response.json()).toMatchObject({
      error: { message: 'The request did not arrive in time. Send it again.' },
    });
  });

  it('a connection that says nothing is closed without a word', async () => {
    const { url } = await startServer({ limits: { headersMs: 1000, checkMs: 10 } });
    const connection = await openRaw(url);
    await connection.until(() => false);
    expect(connection.received).toHaveLength(0);
  });

  it('a body that stops coming is answered with 408 in the dialect', async () => {
    const { url } = await startServer({ limits: { bodyIdleMs: 30, lingerMs: 20 } });
    const connection = await openRaw(url);
    await connection.send(head(url, { 'content-length': '100' }), '{"model"');
    const response = await connection.response();
    expect(response.status).toBe(408);
    expect(response.headers['connection']).toBe('close');
    expect(response.json()).toMatchObject({
      type: 'error',
      error: { type: 'timeout_error', message: 'The body did not arrive in time. Send it again.' },
    });
    await connection.until(() => false);
    expect(connection.ended).not.toBe('no');
  });

  it('a body that trickles is answered with 408 when its time is over', async () => {
    const { url } = await startServer({ limits: { bodyMs: 50, lingerMs: 20 } });
    const connection = await openRaw(url);
    await connection.send(head(url, { 'content-length': '1000000' }));
    let answered = false;
    connection.head().then(() => {
      answered = true;
    });
    while (!answered) {
      await connection.send(' ');
      await turnOfLoop();
    }
    expect((await connection.response()).status).toBe(408);
  });

  it('does not count the time of the answer', async () => {
    const hold = gate();
    const { url } = await startServer({
      limits: { headersMs: 500, bodyIdleMs: 500, bodyMs: 500, checkMs: 10 },
      run: async () => {
        await hold.pass();
        return answerOf(HELLO);
      },
    });
    const patient = await openRaw(url);
    await patient.send(turnBytes(url));
    await hold.reached;
    // Each of these is given up only after the time of a head: more than head and body have together.
    for (let round = 0; round < 3; round++) {
      const slow = await openRaw(url);
      await slow.send('POST /v1/messages HTTP/1.1\r\n');
      expect((await slow.response()).status).toBe(408);
    }
    hold.open();
    expect((await patient.response()).status).toBe(200);
  });
});

describe('a connection after an error', () => {
  const bad = (url: string) => requestBytes(url, { path: '/v1/messages', headers: JSON_HEADERS, body: '{' });
  const good = (url: string) => requestBytes(url, { path: '/v1/models' });

  it.each([
    ['bad JSON', bad, 400],
    [
      'an unread body',
      (url: string) => requestBytes(url, { path: '/nowhere', body: 'x'.repeat(200_000) }),
      404,
    ],
    [
      'a wrong method',
      (url: string) => requestBytes(url, { method: 'PATCH', path: '/v1/models', body: '{}' }),
      405,
    ],
    [
      'a wrong type',
      (url: string) =>
        requestBytes(url, { path: '/v1/messages', headers: { 'content-type': 'a/b' }, body: 'x' }),
      415,
    ],
  ])('goes on after %s', async (_what, broken, status) => {
    const { url } = await startServer();
    const connection = await openRaw(url);
    for (let round = 0; round < 3; round++) {
      await connection.send(broken(url));
      expect((await connection.response()).status).toBe(status);
      await connection.send(good(url));
      expect((await connection.response()).status).toBe(200);
    }
  });

  it('answers pipelined requests in order, good and bad', async () => {
    const { url } = await startServer();
    const connection = await openRaw(url);
    const requests = [
      bad(url),
      turnBytes(url),
      good(url),
      turnBytes(url, { stream: true }),
      bad(url),
      good(url),
    ];
    await connection.send(Buffer.concat(requests));
    const statuses: number[] = [];
    for (let index = 0; index < requests.length; index++) statuses.push((await connection.response()).status);
    expect(statuses).toEqual([400, 200, 200, 200, 400, 200]);
  });

  it('streams to pipelined requests in order, each whole', async () => {
    const { url } = await startServer();
    const connection = await openRaw(url);
    await connection.send(Buffer.concat([1, 2, 3].map(() => turnBytes(url, { stream: true }))));
    for (let index = 0; index < 3; index++) {
      const { text, complete } = await connection.response();
      expect(complete).toBe(true);
      expect(text).toMatch(/^event: message_start\n[\s\S]*event: message_stop\ndata: .*\n\n$/);
    }
  });

  it('is closed at the wish of the client', async () => {
    const { url } = await startServer();
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, {}, '/v1/messages', { connection: 'close' }));
    const response = await connection.response();
    expect([response.status, response.headers['connection']]).toEqual([200, 'close']);
    await connection.until(() => false);
    expect(connection.ended).toBe('closed');
  });
});
