import { connect, type LookupFunction, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { makeCertificate } from '../../../test/support/certificate.js';
import { closed, onRequest, startServer, startTlsServer } from '../../../test/support/socket-server.js';
import { closeAllAfterEach, makeClient, OK, request, textOf } from '../../../test/support/upstream-client.js';

closeAllAfterEach();

const certificate = makeCertificate({ names: ['api.test', 'proxy.test'] });
const ca = certificate.cert;
const loopback: LookupFunction = (_host, _options, callback) =>
  callback(null, [{ address: '127.0.0.1', family: 4 }]);

/** A proxy that joins every tunnel to one port. */
function tunnelTo(port: number, seen: string[]) {
  return (socket: Socket) => {
    socket.once('data', (head) => {
      seen.push(head.toString());
      const target = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        socket.pipe(target).pipe(socket);
      });
      target.on('error', () => socket.destroy());
      socket.on('close', () => target.destroy());
      target.on('close', () => socket.destroy());
    });
  };
}

describe('plain HTTP through a proxy', () => {
  it('asks for the whole URL with the proxy credentials, and keeps the connection', async () => {
    const seen: string[] = [];
    const proxy = await startServer((socket) =>
      onRequest(socket, (text) => {
        seen.push(text);
        socket.write(OK);
      }),
    );
    const client = makeClient({ env: { http_proxy: `http://me:pw@127.0.0.1:${proxy.port}` } });
    for (let i = 0; i < 2; i++) {
      const answer = await client.request(request(new URL('http://api.test:81/v1/x?a=b')));
      expect(await textOf(answer.body)).toBe('ok');
    }
    expect(proxy.sockets).toHaveLength(1);
    const credentials = Buffer.from('me:pw').toString('base64');
    expect(seen[0]).toBe(
      `GET http://api.test:81/v1/x?a=b HTTP/1.1\r\nhost: api.test:81\r\nproxy-authorization: Basic ${credentials}\r\n\r\n`,
    );
  });

  it('names both when the proxy is down, not its password', async () => {
    const proxy = await startServer(() => {});
    await proxy.close();
    const client = makeClient({ env: { HTTP_PROXY: `http://me:secret@127.0.0.1:${proxy.port}` } });
    const error = await client
      .request(request(new URL('http://api.test/')))
      .catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'upstream_failed' });
    expect(String(error)).toContain(`api.test (through the proxy 127.0.0.1:${proxy.port})`);
    expect(String(error)).not.toContain('secret');
  });
});

describe('HTTPS through a proxy', () => {
  it('opens a tunnel, verifies the upstream behind it, and keeps the connection', async () => {
    const upstream = await startTlsServer(certificate, (socket) => onRequest(socket, () => socket.write(OK)));
    const seen: string[] = [];
    const proxy = await startServer(tunnelTo(upstream.port, seen));
    const client = makeClient({ ca, env: { https_proxy: `http://me:pw@127.0.0.1:${proxy.port}` } });
    const post = request(new URL('https://api.test/v1/x'), {
      method: 'POST',
      headers: { authorization: 'Bearer key' },
      body: 'x',
    });
    for (let i = 0; i < 2; i++) expect(await textOf((await client.request(post)).body)).toBe('ok');
    expect(proxy.sockets).toHaveLength(1);
    const credentials = Buffer.from('me:pw').toString('base64');
    expect(seen).toEqual([
      `CONNECT api.test:443 HTTP/1.1\r\nhost: api.test:443\r\nproxy-authorization: Basic ${credentials}\r\n\r\n`,
    ]);
    expect(await upstream.socket(0)).toMatchObject({ servername: 'api.test' });
  });

  it('works through a proxy that itself speaks TLS', async () => {
    const upstream = await startTlsServer(certificate, (socket) => onRequest(socket, () => socket.write(OK)));
    const proxy = await startTlsServer(certificate, tunnelTo(upstream.port, []));
    const env = { https_proxy: `https://proxy.test:${proxy.port}` };
    const client = makeClient({ ca, env, lookup: loopback });
    expect(await textOf((await client.request(request(new URL('https://api.test/')))).body)).toBe('ok');
    await client.close();
    await closed(await proxy.socket(0));
  });

  it('refuses an upstream with the certificate of another', async () => {
    const other = makeCertificate({ names: ['other.test'] });
    const upstream = await startTlsServer(other, (socket) => onRequest(socket, () => socket.write(OK)));
    const proxy = await startServer(tunnelTo(upstream.port, []));
    const client = makeClient({ ca: other.cert, env: { https_proxy: `127.0.0.1:${proxy.port}` } });
    await expect(client.request(request(new URL('https://api.test/')))).rejects.toThrow(/another host name/);
    await closed(await proxy.socket(0));
  });

  it.each([
    ['HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 3\r\n\r\nno!', /status 407.*credentials/],
    ['HTTP/1.1 502 Bad Gateway\r\n\r\n', /refused to connect to api\.test:443 with status 502/],
    ['HTTP/1.1 200 OK\r\n\r\nearly', /before the tunnel was used/],
    ['nonsense\r\n\r\n', /not a valid HTTP answer/],
  ])('reports a proxy that answers %j', async (answer, message) => {
    const proxy = await startServer((socket) => onRequest(socket, () => socket.end(answer)));
    const client = makeClient({ env: { https_proxy: `127.0.0.1:${proxy.port}` } });
    await expect(client.request(request(new URL('https://api.test/')))).rejects.toMatchObject({
      code: 'upstream_failed',
      message: expect.stringMatching(message),
    });
    await closed(await proxy.socket(0));
  });

  it('reports a proxy that closes, and one that never answers', async () => {
    const proxy = await startServer((socket, index) => {
      if (index === 0) onRequest(socket, () => socket.end());
    });
    const client = makeClient({ env: { https_proxy: `127.0.0.1:${proxy.port}` } });
    const url = new URL('https://api.test/');
    await expect(client.request(request(url))).rejects.toMatchObject({ code: 'upstream_failed' });
    await expect(client.request(request(url, { connectTimeoutMs: 20 }))).rejects.toMatchObject({
      code: 'upstream_timeout',
      message: expect.stringContaining('through the proxy'),
    });
    const controller = new AbortController();
    const sent = client.request(request(url, { signal: controller.signal }));
    const ended = expect(sent).rejects.toMatchObject({ code: 'client_closed' });
    const socket = await proxy.socket(2);
    controller.abort();
    await ended;
    socket.resume();
    await closed(socket);
  });
});

describe('without a proxy', () => {
  it('reaches what NO_PROXY names directly', async () => {
    const server = await startServer((socket) => onRequest(socket, () => socket.write(OK)));
    const client = makeClient({ lookup: loopback, env: { http_proxy: '127.0.0.1:1', no_proxy: 'api.test' } });
    const url = new URL(`http://api.test:${server.port}/`);
    expect(await textOf((await client.request(request(url))).body)).toBe('ok');
  });
});
