import { once } from 'node:events';
import type { LookupFunction, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closed, onRequest, startServer } from '../../../test/support/socket-server.js';
import {
  chunk,
  closeAllAfterEach,
  makeClient,
  OK,
  request,
  STREAM_HEAD,
  textOf,
} from '../../../test/support/upstream-client.js';
import { GatewayError } from '../../core/errors.js';
import { UpstreamConnection } from './connection.js';
import { encodeUtf8, readAll } from './http-client.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
closeAllAfterEach();

const answerWith = (text: string) => (socket: Socket) => onRequest(socket, () => socket.write(text));

describe('a request', () => {
  it('goes out byte for byte as asked, its text as UTF-8', async () => {
    const seen: string[] = [];
    const server = await startServer((socket) =>
      onRequest(socket, (text) => {
        seen.push(text);
        socket.write(OK);
      }),
    );
    const answer = await makeClient().request(
      request(server.url, { method: 'POST', headers: { 'x-api-key': 'k' }, body: '{"a":"世界"}' }),
    );
    expect(await textOf(answer.body)).toBe('ok');
    const body = Buffer.from('{"a":"世界"}').toString('latin1');
    expect(seen).toEqual([
      `POST /v1/x?q=1 HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nx-api-key: k\r\ncontent-length: 14\r\n\r\n${body}`,
    ]);
  });

  it('carries a large body of bytes whole', async () => {
    const body = Buffer.alloc(5_000_000, 'abcdefg');
    const server = await startServer((socket) =>
      onRequest(socket, (text) => {
        const same = text.slice(text.indexOf('\r\n\r\n') + 4) === body.toString('latin1');
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n${String(same).padEnd(5)}`);
      }),
    );
    const answer = await makeClient().request(request(server.url, { method: 'POST', body }));
    expect(await textOf(answer.body)).toBe('true ');
  });

  it('resolves with the head before the body has come, and hands out each read', async () => {
    const server = await startServer(answerWith(STREAM_HEAD));
    const { status, headers, body } = await makeClient().request(request(server.url));
    expect(status).toBe(200);
    expect(headers['transfer-encoding']).toBe('chunked');
    const socket = await server.socket(0);
    for (const text of ['one', 'two']) {
      const read = body.next();
      socket.write(chunk(text));
      expect((await read).value?.toString()).toBe(text);
    }
    socket.write('0\r\n\r\n');
    expect(await body.next()).toEqual({ done: true, value: undefined });
  });

  it('resolves whatever the status', async () => {
    const server = await startServer(
      answerWith('HTTP/1.1 429 Slow\r\nretry-after: 3\r\ncontent-length: 0\r\n\r\n'),
    );
    const answer = await makeClient().request(request(server.url));
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBe('3');
    expect((await readAll(answer.body, 10)).length).toBe(0);
  });

  it('reads until the connection closes where there is no framing', async () => {
    const server = await startServer((socket) =>
      onRequest(socket, () => socket.end('HTTP/1.0 200 OK\r\n\r\nto the end')),
    );
    const answer = await makeClient().request(request(server.url));
    expect(await textOf(answer.body)).toBe('to the end');
  });

  it('lets a slow consumer take all of a large body', async () => {
    const part = Buffer.alloc(1_000_000, 'x');
    const server = await startServer((socket) =>
      onRequest(socket, () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 24000000\r\n\r\n');
        for (let i = 0; i < 24; i++) socket.write(part);
      }),
    );
    const { body } = await makeClient().request(request(server.url));
    let size = 0;
    for await (const read of body) {
      size += read.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(size).toBe(24_000_000);
  });

  it('tries the next address when the first one is dead', async () => {
    const server = await startServer(answerWith(OK));
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(null, [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ]);
    const url = new URL(`http://both.test:${server.port}/`);
    const answer = await makeClient({ lookup }).request(request(url));
    expect(await textOf(answer.body)).toBe('ok');
  });

  it('is refused for another scheme', async () => {
    await expect(makeClient().request(request(new URL('ftp://127.0.0.1/')))).rejects.toThrow(/https:\/\//);
  });
});

describe('connections', () => {
  it('are used again one after the other, and side by side when needed', async () => {
    const server = await startServer(answerWith(OK));
    const client = makeClient();
    for (let i = 0; i < 3; i++) await textOf((await client.request(request(server.url))).body);
    expect(server.sockets).toHaveLength(1);
    const both = await Promise.all([
      client.request(request(server.url)),
      client.request(request(server.url)),
    ]);
    await Promise.all(both.map((answer) => textOf(answer.body)));
    expect(server.sockets).toHaveLength(2);
  });

  it('are kept only as many as allowed', async () => {
    const server = await startServer(answerWith(OK));
    const client = makeClient({ maxIdlePerHost: 1 });
    const both = await Promise.all([
      client.request(request(server.url)),
      client.request(request(server.url)),
    ]);
    await Promise.all(both.map((answer) => textOf(answer.body)));
    await Promise.race(server.sockets.map(closed));
    await textOf((await client.request(request(server.url))).body);
    expect(server.sockets).toHaveLength(2);
  });

  it('are closed after their idle time', async () => {
    const server = await startServer(answerWith(OK));
    const client = makeClient({ keepAliveMs: 5 });
    await textOf((await client.request(request(server.url))).body);
    await closed(await server.socket(0));
  });

  it.each([
    ['it says close', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'],
    ['it is HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    ['more came than was announced', `${OK}surplus`],
    [
      'the upstream is about to close it',
      'HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok',
    ],
  ])('are not used again when %s', async (_why, text) => {
    // Not by their idle time, then: it does not pass.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const server = await startServer(answerWith(text));
    const client = makeClient();
    expect(await textOf((await client.request(request(server.url))).body)).toBe('ok');
    await closed(await server.socket(0));
    expect(await textOf((await client.request(request(server.url))).body)).toBe('ok');
    expect(server.sockets).toHaveLength(2);
  });

  it('are dropped when something comes while they are idle', async () => {
    const server = await startServer(answerWith(OK));
    const client = makeClient();
    await textOf((await client.request(request(server.url))).body);
    const socket = await server.socket(0);
    socket.write(OK);
    await closed(socket);
    expect(await textOf((await client.request(request(server.url))).body)).toBe('ok');
    expect(server.sockets).toHaveLength(2);
  });

  it('are not used again when the answer came before the request was sent', async () => {
    const server = await startServer((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write(OK);
      });
    });
    const client = makeClient();
    const body = Buffer.alloc(50_000_000);
    const answer = await client.request(request(server.url, { method: 'POST', body }));
    expect(await textOf(answer.body)).toBe('ok');
    const socket = await server.socket(0);
    socket.resume();
    await closed(socket);
  });

  it('that were dead are replaced once, with the same request', async () => {
    const seen: string[] = [];
    const server = await startServer((socket, index) =>
      onRequest(socket, (text, count) => {
        seen.push(`${index}.${count} ${text.slice(-4)}`);
        if (index === 0 && count === 1) socket.destroy();
        else socket.write(OK);
      }),
    );
    const client = makeClient();
    const post = request(server.url, { method: 'POST', body: 'body' });
    await textOf((await client.request(post)).body);
    expect(await textOf((await client.request(post)).body)).toBe('ok');
    expect(seen).toEqual(['0.0 body', '0.1 body', '1.0 body']);
  });

  it('are not replaced a second time', async () => {
    const server = await startServer((socket, index) =>
      onRequest(socket, (_text, count) => {
        if (index === 0 && count === 0) socket.write(OK);
        else socket.destroy();
      }),
    );
    const client = makeClient();
    await textOf((await client.request(request(server.url))).body);
    await expect(client.request(request(server.url))).rejects.toMatchObject({ code: 'upstream_failed' });
    expect(server.sockets).toHaveLength(2);
  });

  it('are not replaced when new and cut while the request is sent', async () => {
    const server = await startServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const body = Buffer.alloc(50_000_000);
    await expect(makeClient().request(request(server.url, { method: 'POST', body }))).rejects.toMatchObject({
      name: 'GatewayError',
      code: 'upstream_failed',
    });
    expect(server.sockets).toHaveLength(1);
  });

  it('are not replaced when they took the request and failed much later', async () => {
    const server = await startServer((socket) =>
      onRequest(socket, (_text, count) => {
        if (count === 0) socket.write(OK);
        else socket.emit('second request');
      }),
    );
    const client = makeClient();
    await textOf((await client.request(request(server.url))).body);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const failed = expect(client.request(request(server.url))).rejects.toMatchObject({
      code: 'upstream_failed',
    });
    const socket = await server.socket(0);
    await once(socket, 'second request');
    vi.advanceTimersByTime(5000);
    socket.destroy();
    await failed;
    expect(server.sockets).toHaveLength(1);
  });

  it('are not replaced when new, nor when an answer had begun', async () => {
    const server = await startServer((socket, index) =>
      onRequest(socket, (_text, count) => {
        if (index === 0) socket.destroy();
        else if (count === 0) socket.write(OK);
        else socket.end('HTTP/1.1 2');
      }),
    );
    const client = makeClient();
    const failed = { code: 'upstream_failed', retryable: true };
    await expect(client.request(request(server.url))).rejects.toMatchObject(failed);
    expect(server.sockets).toHaveLength(1);
    await textOf((await client.request(request(server.url))).body);
    await expect(client.request(request(server.url))).rejects.toMatchObject(failed);
    expect(server.sockets).toHaveLength(2);
  });
});

describe('an answer that breaks off', () => {
  const cut: [string, string][] = [
    ['by length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
    ['in a chunk', `${STREAM_HEAD}100\r\nhalf`],
    ['between chunks', `${STREAM_HEAD}4\r\nhalf\r\n`],
    ['before the last empty line', `${STREAM_HEAD}4\r\nhalf\r\n0\r\n`],
  ];
  it.each(cut)('%s gives what came and then throws', async (_how, text) => {
    const server = await startServer((socket) => onRequest(socket, () => socket.end(text)));
    const { body } = await makeClient().request(request(server.url));
    expect((await body.next()).value?.toString()).toBe('half');
    await expect(body.next()).rejects.toMatchObject({
      code: 'upstream_failed',
      retryable: true,
      message: `127.0.0.1:${server.port} closed the connection before its answer was complete.`,
    });
    expect(await body.next()).toEqual({ done: true, value: undefined });
  });

  it('by a reset throws, too', async () => {
    const server = await startServer(answerWith(`${STREAM_HEAD}${chunk('half')}`));
    const { body } = await makeClient().request(request(server.url));
    expect((await body.next()).value?.toString()).toBe('half');
    const rest = body.next();
    (await server.socket(0)).resetAndDestroy();
    await expect(rest).rejects.toThrow(/broke off .*ECONNRESET/);
  });

  it('by bad framing throws and drops the connection', async () => {
    const server = await startServer(answerWith(`${STREAM_HEAD}${chunk('half')}`));
    const { body } = await makeClient().request(request(server.url));
    await body.next();
    const rest = body.next();
    const socket = await server.socket(0);
    socket.write('zz\r\n');
    await expect(rest).rejects.toThrow(/not a valid HTTP answer/);
    await closed(socket);
  });

  it('is told apart from one that never was HTTP', async () => {
    const server = await startServer((socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n\r\n'));
    await expect(makeClient().request(request(server.url))).rejects.toMatchObject({
      code: 'upstream_failed',
      retryable: false,
      message: expect.stringContaining('status line'),
    });
  });
});

describe('cancelling a request', () => {
  const reason = { code: 'client_closed', status: 499 };

  it('before the start opens nothing', async () => {
    const server = await startServer(() => {});
    await expect(
      makeClient().request(request(server.url, { signal: AbortSignal.abort() })),
    ).rejects.toMatchObject(reason);
    expect(server.sockets).toHaveLength(0);
  });

  it('during the name lookup rejects at once', async () => {
    const controller = new AbortController();
    const lookup: LookupFunction = () => controller.abort();
    const { signal } = controller;
    const sent = makeClient({ lookup }).request(request(new URL('http://slow.test/'), { signal }));
    await expect(sent).rejects.toMatchObject(reason);
  });

  it('within the name lookup leaves no socket that connects later', async () => {
    const server = await startServer(answerWith(OK));
    const controller = new AbortController();
    let found = () => {};
    const lookup: LookupFunction = (_host, _options, callback) => {
      found = () => callback(null, [{ address: '127.0.0.1', family: 4 }]);
      controller.abort();
    };
    const client = makeClient({ lookup });
    const url = new URL(`http://slow.test:${server.port}/`);
    await expect(client.request(request(url, { signal: controller.signal }))).rejects.toMatchObject(reason);
    found();
    // A connection of the first request would be accepted before this one.
    await textOf((await client.request(request(server.url))).body);
    expect(server.sockets).toHaveLength(1);
  });

  it('while the connection is made rejects and leaves none', async () => {
    const server = await startServer(() => {});
    const controller = new AbortController();
    const sent = makeClient().request(request(server.url, { signal: controller.signal }));
    controller.abort();
    await expect(sent).rejects.toMatchObject(reason);
    for (const socket of server.sockets) await closed(socket);
  });

  it('while the request is sent destroys the connection', async () => {
    const server = await startServer((socket) => socket.pause());
    const controller = new AbortController();
    const body = Buffer.alloc(50_000_000);
    const sent = makeClient().request(
      request(server.url, { method: 'POST', body, signal: controller.signal }),
    );
    const socket = await server.socket(0);
    controller.abort();
    await expect(sent).rejects.toMatchObject(reason);
    socket.resume();
    await closed(socket);
  });

  it('while the answer is awaited destroys the connection', async () => {
    const controller = new AbortController();
    const server = await startServer((socket) => onRequest(socket, () => controller.abort()));
    const sent = makeClient().request(request(server.url, { signal: controller.signal }));
    await expect(sent).rejects.toMatchObject(reason);
    await closed(await server.socket(0));
  });

  it('during the body fails the read and destroys the connection', async () => {
    const controller = new AbortController();
    const server = await startServer(answerWith(STREAM_HEAD));
    const { body } = await makeClient().request(request(server.url, { signal: controller.signal }));
    const read = body.next();
    controller.abort();
    await expect(read).rejects.toMatchObject(reason);
    await closed(await server.socket(0));
  });

  it('after the end does nothing to the connection', async () => {
    const controller = new AbortController();
    const server = await startServer(answerWith(OK));
    const client = makeClient();
    await textOf((await client.request(request(server.url, { signal: controller.signal }))).body);
    controller.abort();
    expect(await textOf((await client.request(request(server.url))).body)).toBe('ok');
    expect(server.sockets).toHaveLength(1);
  });

  it('passes a GatewayError of the signal on as it is', async () => {
    const error = new GatewayError('unavailable', 'draining');
    await expect(
      makeClient().request(request(new URL('http://127.0.0.1:1/'), { signal: AbortSignal.abort(error) })),
    ).rejects.toBe(error);
  });

  it('by leaving the loop destroys the connection', async () => {
    const server = await startServer(answerWith(`${STREAM_HEAD}${chunk('a')}`));
    const { body } = await makeClient().request(request(server.url));
    for await (const read of body) {
      expect(read.toString()).toBe('a');
      break;
    }
    await closed(await server.socket(0));
  });

  it('by return() ends a read that waits', async () => {
    const server = await startServer(answerWith(STREAM_HEAD));
    const { body } = await makeClient().request(request(server.url));
    const read = body.next();
    await body.return();
    expect(await read).toEqual({ done: true, value: undefined });
    await closed(await server.socket(0));
  });

  it('leaves no listener on the signal', async () => {
    const server = await startServer(answerWith(OK));
    const { signal } = new AbortController();
    let listeners = 0;
    const counted: AbortSignal = Object.assign(signal, {
      addEventListener(...args: Parameters<AbortSignal['addEventListener']>) {
        listeners++;
        AbortSignal.prototype.addEventListener.apply(signal, args);
      },
      removeEventListener(...args: Parameters<AbortSignal['removeEventListener']>) {
        listeners--;
        AbortSignal.prototype.removeEventListener.apply(signal, args);
      },
    });
    await textOf((await makeClient().request(request(server.url, { signal: counted }))).body);
    expect(listeners).toBe(0);
  });
});

describe('time limits', () => {
  it('end a connection that is never made', async () => {
    const lookup: LookupFunction = () => {};
    const sent = makeClient({ lookup }).request(
      request(new URL('http://slow.test/'), { connectTimeoutMs: 5 }),
    );
    await expect(sent).rejects.toMatchObject({
      code: 'upstream_timeout',
      message: 'slow.test did not accept a connection within 0.005 s.',
    });
  });

  it('end the wait for an answer', async () => {
    const server = await startServer(() => {});
    const sent = makeClient().request(request(server.url, { headersTimeoutMs: 5 }));
    await expect(sent).rejects.toMatchObject({
      code: 'upstream_timeout',
      message: `127.0.0.1:${server.port} did not answer within 0.005 s.`,
    });
    await closed(await server.socket(0));
  });

  it('end the wait for an answer on a reused connection, without asking again', async () => {
    const server = await startServer((socket) =>
      onRequest(socket, (_text, count) => {
        if (count === 0) socket.write(OK);
      }),
    );
    const client = makeClient();
    await textOf((await client.request(request(server.url))).body);
    const sent = client.request(request(server.url, { headersTimeoutMs: 5 }));
    await expect(sent).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(server.sockets).toHaveLength(1);
  });

  it('end a body that falls silent, after what had come', async () => {
    const server = await startServer(answerWith(`${STREAM_HEAD}${chunk('half')}`));
    const { body } = await makeClient().request(request(server.url, { idleTimeoutMs: 30 }));
    expect((await body.next()).value?.toString()).toBe('half');
    await expect(body.next()).rejects.toMatchObject({
      code: 'upstream_timeout',
      message: `127.0.0.1:${server.port} fell silent for 0.03 s in the middle of its answer.`,
    });
    await closed(await server.socket(0));
  });

  it('do not count while the consumer is the slow one', async () => {
    const server = await startServer((socket) =>
      onRequest(socket, () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 30000000\r\n\r\n');
        socket.write(Buffer.alloc(30_000_000));
      }),
    );
    const paused = vi.spyOn(UpstreamConnection.prototype, 'pause');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { body } = await makeClient().request(request(server.url));
    while (paused.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(3_600_000);
    let size = 0;
    for await (const read of body) size += read.length;
    expect(size).toBe(30_000_000);
  });

  it.each([0, Number.POSITIVE_INFINITY])('of %s are none', async (limit) => {
    const server = await startServer(answerWith(OK));
    const limits = { connectTimeoutMs: limit, headersTimeoutMs: limit, idleTimeoutMs: limit };
    expect(await textOf((await makeClient().request(request(server.url, limits))).body)).toBe('ok');
  });
});

describe('failures to connect', () => {
  it('say that nothing listens', async () => {
    const server = await startServer(() => {});
    await server.close();
    await expect(makeClient().request(request(server.url))).rejects.toMatchObject({
      code: 'upstream_failed',
      status: 502,
      retryable: true,
      message: expect.stringMatching(
        `^Could not connect to 127.0.0.1:${server.port}: nothing listens there \\(ECONNREFUSED\\)`,
      ),
    });
  });

  it('say that a name does not exist, without the credentials of the URL', async () => {
    const lookup: LookupFunction = (host, _options, callback) =>
      callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), []);
    const url = new URL('http://user:secret@nowhere.test/key=secret');
    const sent = makeClient({ lookup }).request(
      request(url, { headers: { authorization: 'Bearer secret' } }),
    );
    const error = await sent.catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ retryable: false, message: expect.stringContaining('nowhere.test') });
    expect(String(error)).not.toContain('secret');
  });
});

describe('closing the client', () => {
  it('ends idle and running connections and refuses more', async () => {
    const server = await startServer((socket, index) =>
      onRequest(socket, () => socket.write(index === 0 ? STREAM_HEAD : OK)),
    );
    const client = makeClient();
    const { body } = await client.request(request(server.url));
    await textOf((await client.request(request(server.url))).body);
    const read = body.next();
    const failed = expect(read).rejects.toMatchObject({ code: 'unavailable' });
    await client.close();
    await failed;
    await Promise.all(server.sockets.map(closed));
    await expect(client.request(request(server.url))).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('ends an attempt to connect', async () => {
    const client = makeClient({ lookup: () => {} });
    const failed = expect(client.request(request(new URL('http://slow.test/')))).rejects.toMatchObject({
      code: 'unavailable',
    });
    await client.close();
    await failed;
  });
});

describe('memory', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');

  async function send(kind: 'fresh' | 'reused') {
    const server = await startServer((socket) =>
      onRequest(socket, (text) => socket.write(text.startsWith('GET') ? OK : STREAM_HEAD)),
    );
    const client = makeClient();
    if (kind === 'reused') await textOf((await client.request(request(server.url))).body);
    const sent = { body: new Uint8Array(200_000) };
    const answer = await client.request(request(server.url, { method: 'POST', body: sent.body }));
    return { answer, server, body: new WeakRef(sent.body) };
  }

  it.each(['fresh', 'reused'] as const)(
    'holds no request body while a stream is open on a %s connection',
    async (kind) => {
      const { answer, server, body } = await send(kind);
      for (let i = 0; i < 10 && body.deref() !== undefined; i++) {
        await new Promise((resolve) => setImmediate(resolve));
        collect();
      }
      expect(body.deref()).toBeUndefined();
      expect(server.sockets).toHaveLength(1);
      await answer.body.return();
    },
  );

  it('drops the body on a fresh connection as soon as it is written', async () => {
    const server = await startServer(() => {});
    const client = makeClient();
    const controller = new AbortController();
    const start = () => {
      const body = new Uint8Array(100_000);
      const sent = client.request(request(server.url, { method: 'POST', body, signal: controller.signal }));
      return { sent, body: new WeakRef(body) };
    };
    const { sent, body } = start();
    const ended = expect(sent).rejects.toMatchObject({ code: 'client_closed' });
    const socket = await server.socket(0);
    let received = 0;
    while (received < 100_000) received += (await once(socket, 'data'))[0].length;
    for (let i = 0; i < 10 && body.deref() !== undefined; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect(body.deref()).toBeUndefined();
    controller.abort();
    await ended;
  });
});

describe('encodeUtf8', () => {
  it('gives the bytes of Buffer.from for short and long texts of any characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom(1, 5000), (text, times) => {
        const long = text.repeat(times);
        expect(encodeUtf8(long).equals(Buffer.from(long, 'utf8'))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('replaces a lone surrogate as Buffer.from does', () => {
    const text = `${'a'.repeat(5000)}\ud800${'b'.repeat(10)}`;
    expect(encodeUtf8(text).equals(Buffer.from(text, 'utf8'))).toBe(true);
  });
});
