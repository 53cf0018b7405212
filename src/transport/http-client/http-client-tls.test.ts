import type { LookupFunction } from 'node:net';
import { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { makeCertificate } from '../../../test/support/certificate.js';
import { closed, onRequest, startServer, startTlsServer } from '../../../test/support/socket-server.js';
import {
  chunk,
  closeAllAfterEach,
  makeClient,
  OK,
  request,
  STREAM_HEAD,
  textOf,
} from '../../../test/support/upstream-client.js';

closeAllAfterEach();

const certificate = makeCertificate({ names: ['api.test', 'proxy.test', '127.0.0.1'] });
const ca = certificate.cert;

const loopback: LookupFunction = (_host, _options, callback) =>
  callback(null, [{ address: '127.0.0.1', family: 4 }]);

const answerOk = (socket: TLSSocket) => onRequest(socket, () => socket.write(OK));

describe('TLS', () => {
  it('names the host, agrees on HTTP/1.1 and reuses the connection', async () => {
    const server = await startTlsServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, answerOk);
    const client = makeClient({ ca, lookup: loopback });
    const url = new URL(`https://api.test:${server.port}/`);
    for (let i = 0; i < 2; i++) expect(await textOf((await client.request(request(url))).body)).toBe('ok');
    expect(server.sockets).toHaveLength(1);
    expect(await server.socket(0)).toMatchObject({ servername: 'api.test', alpnProtocol: 'http/1.1' });
  });

  it('takes an address as host', async () => {
    const server = await startTlsServer(certificate, answerOk);
    expect(await textOf((await makeClient({ ca }).request(request(server.url))).body)).toBe('ok');
  });

  it('tries the next address when the first one is dead', async () => {
    const server = await startTlsServer(certificate, answerOk);
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(null, [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ]);
    const url = new URL(`https://api.test:${server.port}/`);
    expect(await textOf((await makeClient({ ca, lookup }).request(request(url))).body)).toBe('ok');
  });

  it('shortens the second handshake', async () => {
    const server = await startTlsServer(certificate, answerOk);
    const client = makeClient({ ca, maxIdlePerHost: 0 });
    for (let i = 0; i < 2; i++) await textOf((await client.request(request(server.url))).body);
    const reused = server.sockets.map(
      (socket) => socket instanceof TLSSocket && socket.isSessionReused() === true,
    );
    expect(reused).toEqual([false, true]);
  });

  it('streams, sends large bodies and holds back for a slow consumer', async () => {
    const part = Buffer.alloc(1_000_000, 'x');
    const server = await startTlsServer(certificate, (socket) =>
      onRequest(socket, (text) => {
        socket.write(`HTTP/1.1 200 OK\r\nx-got: ${text.length}\r\ncontent-length: 12000000\r\n\r\n`);
        for (let i = 0; i < 12; i++) socket.write(part);
      }),
    );
    const body = Buffer.alloc(3_000_000);
    const answer = await makeClient({ ca }).request(request(server.url, { method: 'POST', body }));
    expect(Number(answer.headers['x-got'])).toBeGreaterThan(3_000_000);
    let size = 0;
    for await (const read of answer.body) {
      size += read.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(size).toBe(12_000_000);
  });

  it.each([
    [
      'a stranger',
      certificate,
      undefined,
      /self-signed \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/,
    ],
    ['another host', makeCertificate({ names: ['other.test'] }), 'own', /for another host name/],
    [
      'yesterday',
      makeCertificate({ names: ['127.0.0.1'], validFrom: new Date(0), validTo: new Date(86_400_000) }),
      'own',
      /has expired/,
    ],
  ] as const)('refuses the certificate of %s', async (_who, served, trust, message) => {
    const server = await startTlsServer(served, answerOk);
    const client = makeClient(trust === 'own' ? { ca: served.cert } : {});
    await expect(client.request(request(server.url))).rejects.toMatchObject({
      code: 'upstream_failed',
      retryable: false,
      message: expect.stringMatching(message),
    });
  });

  it('says when the other side speaks plain HTTP', async () => {
    const server = await startServer((socket) =>
      socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'),
    );
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    await expect(makeClient().request(request(url))).rejects.toThrow(/does not speak TLS/);
  });

  it('can be cancelled and limited in the handshake', async () => {
    const server = await startServer(() => {});
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    const controller = new AbortController();
    const sent = makeClient().request(request(url, { signal: controller.signal }));
    const ended = expect(sent).rejects.toMatchObject({ code: 'client_closed' });
    const socket = await server.socket(0);
    controller.abort();
    await ended;
    socket.resume();
    await closed(socket);
    const limited = makeClient().request(request(url, { connectTimeoutMs: 20 }));
    await expect(limited).rejects.toMatchObject({ code: 'upstream_timeout' });
  });

  it('throws when the answer breaks off', async () => {
    const server = await startTlsServer(certificate, (socket) =>
      onRequest(socket, () => socket.end(`${STREAM_HEAD}${chunk('half')}`)),
    );
    const { body } = await makeClient({ ca }).request(request(server.url));
    expect((await body.next()).value?.toString()).toBe('half');
    await expect(body.next()).rejects.toMatchObject({ code: 'upstream_failed' });
  });
});
