import { describe, expect, it } from 'vitest';
import { openAndAbandon, openRaw, requestBytes, sendRaw } from './raw-http.js';
import {
  answer,
  byteByByte,
  closeEarly,
  DEAD_URL,
  eventByEvent,
  gate,
  hang,
  json,
  raw,
  reset,
  ScriptedUpstream,
  sse,
  startUpstream,
} from './scripted-upstream.js';

const post = (url: string, body: string, headers: Record<string, string> = {}): Buffer =>
  requestBytes(url, { path: '/v1/messages?beta=true', body, headers });

describe('what a scripted upstream records', () => {
  it('keeps method, target, header case and order, and every byte of the body', async () => {
    const upstream = await startUpstream([json({})]);
    const body = Buffer.concat([Buffer.from('{"a": "é"} '), Buffer.from([0, 255])]);
    await sendRaw(
      upstream.url,
      requestBytes(upstream.url, {
        path: '/v1/x?y=1',
        headers: [
          ['X-One', 'a'],
          ['x-two', 'b'],
          ['X-One', 'c'],
        ],
        body,
      }),
    );
    const request = await upstream.nextRequest();
    expect(request.method).toBe('POST');
    expect(request.path).toBe('/v1/x?y=1');
    expect(request.rawHeaders.slice(1, 4)).toEqual([
      ['X-One', 'a'],
      ['x-two', 'b'],
      ['X-One', 'c'],
    ]);
    expect(request.headers['x-one']).toBe('a, c');
    expect(request.body.equals(body)).toBe(true);
    expect(request.head.toString()).toContain('POST /v1/x?y=1 HTTP/1.1\r\n');
  });

  it('reads a chunked request, cut anywhere', async () => {
    const upstream = await startUpstream([json({ ok: true })]);
    const bytes = Buffer.from(
      'POST /a HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n6;x=y\r\n":123}\r\n0\r\nt: v\r\n\r\n',
    );
    const response = await sendRaw(upstream.url, ...byteByByte(bytes));
    expect(response.json()).toEqual({ ok: true });
    expect(upstream.requests[0]?.json).toEqual({ a: 123 });
  });

  it('gives requests in order, before and after they come', async () => {
    const upstream = await startUpstream([json(1), json(2)]);
    const first = upstream.nextRequest();
    await sendRaw(upstream.url, post(upstream.url, 'one'));
    await sendRaw(upstream.url, post(upstream.url, 'two'));
    expect((await first).text).toBe('one');
    expect((await upstream.nextRequest()).text).toBe('two');
  });

  it('serves pipelined requests on one connection, in order', async () => {
    const upstream = await startUpstream([json('a'), json('b')]);
    const connection = await openRaw(upstream.url);
    await connection.send(Buffer.concat([post(upstream.url, '1'), post(upstream.url, '2')]));
    expect((await connection.response()).json()).toBe('a');
    expect((await connection.response()).json()).toBe('b');
    expect(upstream.requests.map(({ connection }) => connection)).toEqual([0, 0]);
    expect(upstream.connections).toBe(1);
  });

  it('invites a body that waits for 100 Continue', async () => {
    const upstream = await startUpstream([json('ok')]);
    const connection = await openRaw(upstream.url);
    await connection.send('POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n');
    await connection.until(() => connection.received.includes('100 Continue'));
    await connection.send('hi');
    expect((await connection.response()).json()).toBe('ok');
  });
});

describe('what a scripted upstream answers', () => {
  it('sends status, headers and exact bytes with their length', async () => {
    const upstream = await startUpstream([
      answer('nö', { status: 529, headers: [['Retry-After', '3']], framing: 'length' }),
    ]);
    const response = await sendRaw(upstream.url, post(upstream.url, ''));
    expect(response.statusLine).toBe('HTTP/1.1 529 Overloaded');
    expect(response.rawHeaders).toEqual([
      ['Retry-After', '3'],
      ['content-length', '3'],
    ]);
    expect(response.text).toBe('nö');
  });

  it('makes each piece an HTTP chunk of its own', async () => {
    const upstream = await startUpstream([sse(['data: a\n\n', 'data: b\n', '\n'])]);
    const connection = await openRaw(upstream.url);
    await connection.send(post(upstream.url, ''));
    const response = await connection.response();
    expect(response.text).toBe('data: a\n\ndata: b\n\n');
    expect(connection.received.toString()).toContain(
      '9\r\ndata: a\n\n\r\n8\r\ndata: b\n\r\n1\r\n\n\r\n0\r\n\r\n',
    );
  });

  it('makes each piece a write of its own', async () => {
    const upstream = await startUpstream([sse(['one', 'two'])]);
    const connection = await openRaw(upstream.url);
    const reads: string[] = [];
    connection.socket.on('data', (bytes) => reads.push(bytes.toString()));
    await connection.send(post(upstream.url, ''));
    await connection.response();
    expect(reads.slice(1)).toEqual(['3\r\none\r\n', '3\r\ntwo\r\n', '0\r\n\r\n']);
  });

  it('cuts writes at any size, framing included', async () => {
    const upstream = await startUpstream([sse(['data: é\n\n'], { writeSize: 1 })]);
    const connection = await openRaw(upstream.url);
    const sizes: number[] = [];
    connection.socket.on('data', (bytes) => sizes.push(bytes.length));
    await connection.send(post(upstream.url, ''));
    expect((await connection.response()).text).toBe('data: é\n\n');
    expect(new Set(sizes)).toEqual(new Set([1]));
  });

  it('sends everything in one write when told so', async () => {
    const upstream = await startUpstream([sse(['one', 'two'], { together: true })]);
    const connection = await openRaw(upstream.url);
    const reads: number[] = [];
    connection.socket.on('data', (bytes) => reads.push(bytes.length));
    await connection.send(post(upstream.url, ''));
    await connection.response();
    expect(reads).toHaveLength(1);
  });

  it('waits at a gate until the test opens it', async () => {
    const held = gate();
    const upstream = await startUpstream([sse(['before', held, 'after'])]);
    const connection = await openRaw(upstream.url);
    await connection.send(post(upstream.url, ''));
    await held.reached;
    await connection.bodyHas('before');
    expect(connection.body.toString()).toBe('before');
    held.open();
    expect((await connection.response()).text).toBe('beforeafter');
  });

  it('resets after a given number of body bytes', async () => {
    for (const cutAt of [0, 1, 6, 7]) {
      const upstream = await startUpstream([sse(['abc', 'defg'], { cutAt, end: 'reset' })]);
      const connection = await openRaw(upstream.url);
      await connection.send(post(upstream.url, ''));
      const response = await connection.response();
      expect(response.text).toBe('abcdefg'.slice(0, cutAt));
      expect(response.complete).toBe(false);
      expect(connection.ended).toBe('reset');
    }
  });

  it('truncates a body whose length was promised', async () => {
    const upstream = await startUpstream([
      answer('abcdef', { framing: 'length', cutAt: 2, end: 'truncate' }),
    ]);
    const connection = await openRaw(upstream.url);
    await connection.send(post(upstream.url, ''));
    const response = await connection.response();
    expect(response.headers['content-length']).toBe('6');
    expect(response.text).toBe('ab');
    expect(response.complete).toBe(false);
    expect(connection.ended).toBe('closed');
  });

  it('truncates a chunked body without its last chunk', async () => {
    const upstream = await startUpstream([sse(['data: a\n\n'], { end: 'truncate' })]);
    const response = await sendRaw(upstream.url, post(upstream.url, ''));
    expect(response.text).toBe('data: a\n\n');
    expect(response.complete).toBe(false);
  });

  it('ends a body by closing where it has no length', async () => {
    const upstream = await startUpstream([answer('all', { framing: 'close' })]);
    const response = await sendRaw(upstream.url, post(upstream.url, ''));
    expect(response.headers['content-length']).toBeUndefined();
    expect(response).toMatchObject({ text: 'all', complete: true });
  });

  it('can close or reset before a byte of the answer', async () => {
    const upstream = await startUpstream([closeEarly(), reset()]);
    await expect(sendRaw(upstream.url, post(upstream.url, ''))).rejects.toThrow('closed without an answer');
    await expect(sendRaw(upstream.url, post(upstream.url, ''))).rejects.toThrow('reset without an answer');
  });

  it('sends bytes that are not HTTP', async () => {
    const upstream = await startUpstream([
      raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
    ]);
    await expect(sendRaw(upstream.url, post(upstream.url, ''))).rejects.toThrow('not a chunk size: "zz"');
  });

  it('can be asked to answer by a function of the request', async () => {
    const upstream = await startUpstream((request, index) => json({ index, got: request.text }));
    expect((await sendRaw(upstream.url, post(upstream.url, 'a'))).json()).toEqual({ index: 0, got: 'a' });
    expect((await sendRaw(upstream.url, post(upstream.url, 'b'))).json()).toEqual({ index: 1, got: 'b' });
  });

  it('splits a stream into its events', () => {
    expect(eventByEvent('event: a\ndata: 1\n\ndata: 2\n\n')).toEqual([
      'event: a\ndata: 1\n\n',
      'data: 2\n\n',
    ]);
  });
});

describe('what a scripted upstream knows of its clients', () => {
  it('tells an answer from a client that left', async () => {
    const upstream = await startUpstream([json(1), sse(['data: a\n\n', gate()])]);
    await sendRaw(upstream.url, post(upstream.url, ''));
    await openAndAbandon(upstream.url, post(upstream.url, ''), { after: 7 });
    const [answered, left] = upstream.requests;
    expect(await answered?.outcome).toBe('answered');
    await left?.aborted;
    expect(await left?.outcome).toBe('aborted');
  });

  it('sees a client leave before any answer, by FIN and by RST, at a hang and inside the script', async () => {
    const held = gate();
    const upstream = await startUpstream([
      hang(),
      hang(),
      async () => {
        await held.pass();
        return json(1);
      },
    ]);
    for (const how of ['close', 'reset', 'reset'] as const) {
      await openAndAbandon(upstream.url, post(upstream.url, ''), { after: 'sent', how });
      await (await upstream.nextRequest()).aborted;
    }
    await upstream.whenIdle();
    await upstream.whenDisconnected();
    expect(upstream.openRequests).toBe(0);
    expect(upstream.openConnections).toBe(0);
    held.open();
  });

  it('counts a whole answer as answered also when the client closes at its last byte', async () => {
    const upstream = await startUpstream(() => sse(['data: a\n\n']));
    for (let round = 0; round < 20; round++) await sendRaw(upstream.url, post(upstream.url, ''));
    const outcomes = await Promise.all(upstream.requests.map(({ outcome }) => outcome));
    expect(new Set(outcomes)).toEqual(new Set(['answered']));
  });

  it('counts open connections', async () => {
    const upstream = await startUpstream(() => json(1));
    const connection = await openRaw(upstream.url);
    await connection.send(post(upstream.url, ''));
    await connection.response();
    expect(upstream.openConnections).toBe(1);
    await connection.leave('close');
    await upstream.whenDisconnected();
    expect(upstream.openConnections).toBe(0);
  });

  it('answers 500 and fails its close when it is asked more than the script says', async () => {
    const upstream = new ScriptedUpstream([]);
    await upstream.listen(0);
    expect((await sendRaw(upstream.url, post(upstream.url, ''))).status).toBe(500);
    await expect(upstream.close()).rejects.toThrow('no reply for request 1 (POST /v1/messages?beta=true)');
  });

  it('fails its close with an assertion that failed inside the script', async () => {
    const upstream = new ScriptedUpstream((request) => {
      expect(request.text).toBe('expected');
      return json(1);
    });
    await upstream.listen(0);
    await sendRaw(upstream.url, post(upstream.url, 'unexpected'));
    await expect(upstream.close()).rejects.toThrow("'unexpected' to be 'expected'");
  });

  it('knows an address where nobody listens', async () => {
    await expect(openRaw(DEAD_URL)).rejects.toThrow('ECONNREFUSED');
  });
});
