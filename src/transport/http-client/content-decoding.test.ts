import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { closed, onRequest, startServer } from '../../../test/support/socket-server.js';
import {
  chunk,
  closeAllAfterEach,
  makeClient,
  request,
  textOf,
} from '../../../test/support/upstream-client.js';
import { readAll } from './http-client.js';

closeAllAfterEach();

const TEXT = `data: ${'世界 and more '.repeat(5000)}\n\n`;

/** Answers with one body, in pieces of `step` bytes that each are a chunk. */
async function serve(encoding: string, body: Buffer, step = 1000) {
  const server = await startServer((socket) =>
    onRequest(socket, () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ntransfer-encoding: chunked\r\n\r\n`);
      for (let at = 0; at < body.length; at += step) {
        const piece = body.subarray(at, at + step);
        socket.write(
          Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
        );
      }
      socket.write('0\r\n\r\n');
    }),
  );
  return server;
}

describe('compressed answers', () => {
  it.each([
    ['gzip', gzipSync(TEXT)],
    ['X-GZIP', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
    ['identity', Buffer.from(TEXT)],
    ['gzip', Buffer.concat([gzipSync(TEXT.slice(0, 500)), gzipSync(TEXT.slice(500))])],
  ])('%s is decoded, in pieces of any size', async (encoding, body) => {
    for (const step of [body.length, 100, 7]) {
      const server = await serve(encoding, body, step);
      const client = makeClient();
      const answer = await client.request(request(server.url));
      expect(await textOf(answer.body)).toBe(TEXT);
      expect(answer.headers).not.toHaveProperty('content-encoding');
      await textOf((await client.request(request(server.url))).body);
      expect(server.sockets).toHaveLength(1);
    }
  });

  it.each([
    ['gzip', () => createGzip({ flush: constants.Z_SYNC_FLUSH })],
    ['deflate', () => createDeflate({ flush: constants.Z_SYNC_FLUSH })],
    ['br', () => createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
  ])('of a stream are given out event by event: %s', async (encoding, create) => {
    const server = await startServer((socket) =>
      onRequest(socket, () =>
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ntransfer-encoding: chunked\r\n\r\n`,
        ),
      ),
    );
    const { body } = await makeClient().request(request(server.url));
    const socket = await server.socket(0);
    const encoder = create();
    encoder.on('data', (part: Buffer) =>
      socket.write(
        Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
      ),
    );
    let got = '';
    // The next event is sent only when the one before has been read: nothing may wait for the end.
    for (const event of ['data: one\n\n', 'data: two\n\n', 'data: three\n\n']) {
      encoder.write(event);
      while (!got.endsWith(event)) got += (await body.next()).value?.toString();
    }
    encoder.on('end', () => socket.write('0\r\n\r\n')).end();
    expect(await body.next()).toEqual({ done: true, value: undefined });
    expect(got).toBe('data: one\n\ndata: two\n\ndata: three\n\n');
  });

  it('may be empty', async () => {
    const server = await serve('gzip', Buffer.alloc(0));
    expect(await textOf((await makeClient().request(request(server.url))).body)).toBe('');
  });

  it('that are cut off or broken throw', async () => {
    const whole = gzipSync(TEXT);
    const broken = Buffer.from(whole).fill(0xff, 20, 60);
    for (const body of [whole.subarray(0, whole.length - 20), broken, Buffer.from('not gzip at all')]) {
      const server = await serve('gzip', body);
      const answer = await makeClient().request(request(server.url));
      await expect(textOf(answer.body)).rejects.toMatchObject({
        code: 'upstream_failed',
        message: expect.stringContaining('compressed body is broken'),
      });
      expect(await answer.body.next()).toEqual({ done: true, value: undefined });
    }
  });

  it('that unfold without end are stopped', async () => {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 1 };
    const bomb = brotliCompressSync(Buffer.alloc(50_000_000), { params });
    const server = await serve('br', bomb, bomb.length);
    const answer = await makeClient().request(request(server.url));
    await expect(textOf(answer.body)).rejects.toThrow(/unfolds without end/);
  });

  it('in a format that is not known are refused, and the connection dropped', async () => {
    const server = await startServer((socket) =>
      onRequest(socket, () =>
        socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 9\r\n\r\n'),
      ),
    );
    await expect(makeClient().request(request(server.url))).rejects.toThrow(/content-encoding "zstd"/);
    await closed(await server.socket(0));
  });

  it('that the peer breaks off keep the reason', async () => {
    const server = await startServer((socket) =>
      onRequest(socket, () =>
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n${chunk('')}`.slice(
            0,
            -5,
          ),
        ),
      ),
    );
    const answer = await makeClient().request(request(server.url));
    await expect(textOf(answer.body)).rejects.toThrow(/before its answer was complete/);
  });

  it('can be left early', async () => {
    const server = await startServer((socket) =>
      onRequest(socket, () => {
        const part = gzipSync(TEXT).subarray(0, 100);
        socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n64\r\n');
        socket.write(part);
      }),
    );
    const { body } = await makeClient().request(request(server.url));
    expect((await body.next()).value?.toString()).toMatch(/^data: 世界/);
    const read = body.next();
    await body.return();
    expect(await read).toEqual({ done: true, value: undefined });
    await closed(await server.socket(0));
  });
});

describe('readAll', () => {
  it('refuses more than its limit and drops the connection', async () => {
    const server = await startServer((socket) =>
      onRequest(socket, () =>
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n${'x'.repeat(5000)}`),
      ),
    );
    const answer = await makeClient().request(request(server.url));
    await expect(readAll(answer.body, 4999)).rejects.toThrow(/larger than 4999 bytes/);
    await closed(await server.socket(0));
  });

  it('takes exactly its limit', async () => {
    const server = await serve('identity', Buffer.alloc(5000));
    const answer = await makeClient().request(request(server.url));
    expect((await readAll(answer.body, 5000)).length).toBe(5000);
  });
});
