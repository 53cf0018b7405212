/** What goes wrong on a WebSocket, and what then: an error event where it can go on, the right code where not. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.js';
import type { ModelEvent } from '../../src/core/events.js';
import type { Answer, ModelRequest } from '../../src/engines/engine.js';
import { openStore } from '../../src/store/open/open-store.js';
import { closeAfterTest } from '../support/cleanup.js';
import { deferred, gate, turnOfLoop } from '../support/gate.js';
import { openRaw, requestBytes, sendRaw } from '../support/raw-http.js';
import { openResponsesSocket, refusedSocket, responseIn, textOf } from '../support/responses-socket.js';
import { until } from '../support/until.js';
import { isRecord } from '../support/violation.js';
import { answerOf, HELLO, startServer } from './server-harness.js';

const ASK = { model: 'm', input: 'q' };
const KEY = { key: 'secret-of-alice', name: 'alice', scopes: ['call' as const], models: ['m'] };
const ALICE = { authorization: 'Bearer secret-of-alice' };

describe('a message that is no request', () => {
  it.each<[string, string | Buffer, object]>([
    ['is no JSON', '{"type":', { status: 400 }],
    ['is empty', '', { status: 400 }],
    ['is no object', '["response.create"]', { status: 400 }],
    ['is binary', Buffer.from(JSON.stringify({ type: 'response.create', ...ASK })), { status: 400 }],
    [
      'nests too deep',
      `{"type":"response.create","a":${'['.repeat(300)}${']'.repeat(300)}}`,
      { status: 400 },
    ],
    ['has no type', JSON.stringify(ASK), { status: 400, error: { param: 'type' } }],
    ['is of an unknown type', '{"type":"session.update"}', { status: 400, error: { param: 'type' } }],
    [
      'asks for the background',
      JSON.stringify({ type: 'response.create', ...ASK, background: true }),
      { status: 400, error: { param: 'background' } },
    ],
    ['names no model', '{"type":"response.create","input":"q"}', { status: 400, error: { param: 'model' } }],
  ])('and %s is answered with an error event, and the connection goes on', async (_what, message, error) => {
    const { url, calls, nextRequest } = await startServer();
    const socket = await openResponsesSocket(url);
    expect(await nextRequest()).toMatchObject({ method: 'GET', status: 101 });
    socket.send(message);
    expect(await socket.next()).toMatchObject({
      type: 'error',
      ...error,
      headers: { 'x-request-id': expect.stringMatching(/^req_/) },
    });
    expect(await nextRequest()).toMatchObject({ method: 'POST', status: 400, error: 'invalid_request' });
    expect(calls).toEqual([]);
    expect(textOf(await socket.ask(ASK))).toBe('hello');
  });

  it('is passed over where it needs no answer', async () => {
    const { url } = await startServer();
    const socket = await openResponsesSocket(url);
    socket.send({ type: 'response.processed', response_id: 'resp_1' });
    expect((await socket.ask(ASK))[0]).toMatchObject({ type: 'response.created' });
  });

  it.each<[string, number, Buffer]>([
    ['is larger than a body may be', 1009, frame(1, Buffer.alloc(5000, 'x'))],
    ['is no UTF-8', 1007, frame(1, Buffer.from([0xff, 0xfe]))],
    ['is of a reserved kind', 1002, frame(3, Buffer.from('{}'))],
    ['is not masked', 1002, Buffer.concat([Buffer.from([0x81, 2]), Buffer.from('{}')])],
  ])('and %s ends the connection with %i', async (_what, code, bytes) => {
    const { url } = await startServer({ limits: { bodyBytes: 4096 } });
    const socket = await openResponsesSocket(url);
    socketOf(socket.webSocket).write(bytes);
    expect(await socket.closed).toMatchObject({ code });
  });
});

describe('a request that fails', () => {
  it('has the status of its error, with the lane and how long to wait', async () => {
    const error = new GatewayError('rate_limited', 'Too fast.', { retryAfter: 7, retryable: true });
    const { url } = await startServer({ run: () => Promise.reject(error) });
    const socket = await openResponsesSocket(url);
    expect(await socket.ask({ ...ASK, stream_id: 'a' })).toMatchObject([
      {
        type: 'error',
        status: 429,
        stream_id: 'a',
        error: { message: 'Too fast.' },
        headers: { 'retry-after': '7' },
      },
    ]);
  });

  it('in the middle says so in a response that failed, and the next one is answered', async () => {
    const broken: readonly ModelEvent[] = [
      { type: 'text', text: 'half' },
      { type: 'error', error: new GatewayError('overloaded', 'Later.') },
    ];
    let asked = 0;
    const { url, nextRequest } = await startServer({
      run: async () => answerOf(asked++ === 0 ? [broken] : HELLO),
    });
    const socket = await openResponsesSocket(url);
    await nextRequest();
    const events = await socket.ask(ASK);
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_is_overloaded' } },
    });
    expect(events.filter(({ type }) => type === 'error')).toEqual([]);
    expect(await nextRequest()).toMatchObject({ error: 'overloaded', model: 'm', stream: true });
    expect(textOf(await socket.ask(ASK))).toBe('hello');
  });

  it('with all that it goes on from is too large where that is', async () => {
    const { url } = await startServer({ limits: { bodyBytes: 4096 } });
    const socket = await openResponsesSocket(url);
    const ask = (previous?: string) =>
      socket.ask({
        ...ASK,
        store: false,
        input: 'x'.repeat(1500),
        ...(previous === undefined ? {} : { previous_response_id: previous }),
      });
    const second = responseIn(await ask(responseIn(await ask()).id));
    expect(await ask(second.id)).toMatchObject([{ type: 'error', status: 413 }]);
  });
});

describe('a connection', () => {
  it('is opened for who may call models, and each message is counted like a request', async () => {
    const { url, usage, nextRequest } = await startServer({ keys: [{ ...KEY, rpm: 2 }] });
    const strangers: [Record<string, string>, number][] = [
      [{}, 401],
      [{ authorization: 'Bearer wrong' }, 401],
      [{ ...ALICE, origin: 'https://evil.example' }, 403],
      [{ ...ALICE, 'sec-fetch-site': 'cross-site' }, 403],
      [{ ...ALICE, host: 'evil.example' }, 403],
    ];
    for (const [headers, status] of strangers) {
      const refused = await refusedSocket(url, headers);
      expect(refused).toMatchObject({ status, headers: { connection: 'close' } });
      expect(JSON.parse(refused.body)).toMatchObject({ error: { message: expect.any(String) } });
      expect(await nextRequest()).toMatchObject({ status });
    }
    const socket = await openResponsesSocket(url, ALICE);
    expect((await socket.ask({ ...ASK, model: 'm' })).at(-1)).toMatchObject({ type: 'response.completed' });
    expect((await socket.ask({ ...ASK, model: 'm' })).at(-1)).toMatchObject({ type: 'response.completed' });
    expect(await socket.ask({ ...ASK, model: 'm' })).toMatchObject([
      { type: 'error', status: 429, headers: { 'retry-after': expect.any(String) } },
    ]);
    expect(usage).toMatchObject([
      { principal: 'alice', model: 'm' },
      { principal: 'alice', model: 'm' },
    ]);
  });

  it('is refused in the words of the API where the handshake is none', async () => {
    const { url } = await startServer();
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const answer = await sendRaw(url, requestBytes(url, { path: '/v1/responses', headers: upgrade }));
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ error: { message: expect.stringContaining('Sec-WebSocket-Key') } });
    const plain = await sendRaw(url, requestBytes(url, { path: '/v1/responses' }));
    expect(plain).toMatchObject({ status: 426, headers: { allow: 'POST', upgrade: 'websocket' } });
  });

  it.each(['websocket', 'h2c', 'anything'])(
    'is not changed by an offer of %s elsewhere: the request is answered',
    async (protocol) => {
      const { url } = await startServer();
      const offer = {
        connection: 'keep-alive, Upgrade, HTTP2-Settings',
        upgrade: protocol,
        'http2-settings': 'AAMAAABk',
      };
      const body = JSON.stringify({ ...ASK, stream: false });
      const headers = { ...offer, 'content-type': 'application/json' };
      const connection = await openRaw(url);
      const posted = requestBytes(url, { method: 'POST', path: '/v1/responses', headers, body });
      // In two pieces: the body is still on its way when the offer is read.
      await connection.send(posted.subarray(0, -4));
      await connection.send(posted.subarray(-4));
      expect((await connection.response()).json()).toMatchObject({ object: 'response', status: 'completed' });
      await connection.send(requestBytes(url, { path: '/v1/models', headers: offer }));
      expect((await connection.response()).status).toBe(200);
      await connection.send(requestBytes(url, { path: '/v1/chat/completions', headers: offer }));
      expect(await connection.response()).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    },
  );

  it('answers pings, and asks whether its peer is there', async () => {
    const { url } = await startServer({ limits: { pingMs: 15 } });
    const socket = await openResponsesSocket(url);
    const [ping] = await Promise.all([
      once(socket.webSocket, 'ping'),
      once(socket.webSocket, 'pong'),
      socket.webSocket.ping('x'),
    ]);
    expect(ping).toHaveLength(1);
  });

  it('is given up where its peer answers no ping', async () => {
    const { url } = await startServer({ limits: { pingMs: 15, stallMs: 60 } });
    const socket = await openResponsesSocket(url, {}, { autoPong: false });
    expect(await socket.closed).toMatchObject({ code: 1006 });
  });

  it('is given up where a message is begun and does not come to its end, whatever pongs come between', async () => {
    const { url } = await startServer({ limits: { pingMs: 15, bodyMs: 30 } });
    const socket = await openResponsesSocket(url);
    socketOf(socket.webSocket).write(frame(1, Buffer.from('{"type":'), false));
    expect(await socket.closed).toMatchObject({ code: 1008 });
  });

  it('ends after its time, and says so first', async () => {
    const { url } = await startServer({ limits: { socketMs: 100 } });
    const socket = await openResponsesSocket(url);
    expect(await socket.next()).toMatchObject({ error: { code: 'websocket_connection_limit_reached' } });
    expect(await socket.closed).toMatchObject({ code: 1000 });
  });
});

describe('a peer that stops reading', () => {
  it('is not overtaken, and other lanes wait with it', async () => {
    let pulled = 0;
    const total = 400;
    const text = 'x'.repeat(64 * 1024);
    const { url } = await startServer({
      run: async () =>
        answerOf(
          (async function* (): AsyncGenerator<readonly ModelEvent[]> {
            for (; pulled < total; pulled++) yield [{ type: 'text', text }];
            yield [{ type: 'stop', reason: 'end_turn' }];
          })(),
        ),
    });
    const socket = await openResponsesSocket(url);
    socket.create({ ...ASK, stream_id: 'a' });
    socket.create({ ...ASK, stream_id: 'b' });
    socket.webSocket.pause();
    let before = -1;
    while (before !== pulled || pulled === 0) {
      before = pulled;
      for (let round = 0; round < 20; round++) await sendRaw(url, requestBytes(url, { path: '/healthz' }));
    }
    expect(pulled).toBeLessThan(total / 2);
    // What it sends meanwhile is not read: neither pings nor nonsense make anything grow.
    for (let round = 0; round < 100; round++) {
      socket.webSocket.ping(Buffer.alloc(125));
      socket.send('nonsense');
    }
    expect(pulled).toBe(before);
    socket.webSocket.resume();
    for (let lane = 0; lane < 2; lane++) {
      for (;;) if ((await socket.next())['type'] === 'response.completed') break;
    }
    expect(pulled).toBeGreaterThanOrEqual(total);
  });

  it('is given up when it takes nothing for too long', async () => {
    const aborted = deferred();
    const { url, nextRequest } = await startServer({
      limits: { pingMs: 15, stallMs: 30 },
      run: async ({ signal }) => {
        signal.addEventListener('abort', () => aborted.resolve());
        return answerOf(
          (async function* (): AsyncGenerator<readonly ModelEvent[]> {
            for (;;) yield [{ type: 'text', text: 'x'.repeat(1024 * 1024) }];
          })(),
        );
      },
    });
    const socket = await openResponsesSocket(url);
    await nextRequest();
    socket.create(ASK);
    socket.webSocket.pause();
    await aborted.promise;
    expect(await nextRequest()).toMatchObject({ status: 499, error: 'client_closed' });
  });

  it('is given up as well where all that it does not read are answers to its pings', async () => {
    const { url } = await startServer({ limits: { pingMs: 15, stallMs: 150 } });
    const socket = await openResponsesSocket(url);
    let isOver = false;
    void socket.closed.then(() => {
      isOver = true;
    });
    socket.webSocket.pause();
    const connection = socketOf(socket.webSocket);
    const pings = Buffer.concat(Array.from({ length: 500 }, () => frame(9, Buffer.alloc(125, 'x'))));
    // A write to a connection that the gateway has cut shows the client that it is.
    while (!isOver) {
      await new Promise<void>((done) => connection.write(pings, () => done()));
      await turnOfLoop();
    }
    expect(await socket.closed).toMatchObject({ code: 1006 });
  });

  it('that sends without end is read no faster than it is answered', async () => {
    const held = gate();
    let asked = 0;
    const { url } = await startServer({
      run: async () => {
        asked += 1;
        await held.pass();
        return answerOf(HELLO);
      },
    });
    const socket = await openResponsesSocket(url);
    const many = 300;
    for (let index = 0; index < many; index++) socket.create({ ...ASK, stream_id: `lane-${index % 20}` });
    await held.reached;
    for (let round = 0; round < 20; round++) await sendRaw(url, requestBytes(url, { path: '/healthz' }));
    expect(asked).toBe(16);
    held.open();
    for (let index = 0; index < many; index++) {
      for (;;) if ((await socket.next())['type'] === 'response.completed') break;
    }
    expect(asked).toBe(many);
  });
});

/** Says something, then waits; goes on when it is let, or ends with the signal. */
function heldAnswer(held: ReturnType<typeof gate>, then: readonly ModelEvent[], headers = {}) {
  return async (): Promise<Answer> => ({
    ...answerOf(
      (async function* (): AsyncGenerator<readonly ModelEvent[]> {
        yield [{ type: 'text', text: 'hel' }];
        await held.pass();
        yield [...then];
      })(),
    ),
    headers,
  });
}

const REST: readonly ModelEvent[] = [{ type: 'text', text: 'lo' }, ...(HELLO.at(-1) ?? [])];

async function begunOn(socket: Awaited<ReturnType<typeof openResponsesSocket>>): Promise<string> {
  for (;;) {
    const { type, response } = await socket.next();
    if (type === 'response.created' && isRecord(response)) return String(response['id']);
  }
}

describe('a socket that is killed', () => {
  const BOB = { ...KEY, key: 'secret-of-bob', name: 'bob' };

  async function openWorld(run: (call: ModelRequest) => Promise<Answer>) {
    const store = await openStore('sqlite::memory:', { baseDir: '/' });
    closeAfterTest(() => store.close());
    const { answers, runs } = store;
    const server = await startServer({ keys: [KEY, BOB], parts: { answers, runs }, run });
    const get = async (id: string, key = KEY.key) => {
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(`${server.url}/v1/responses/${id}`, { headers });
      return { status: answer.status, body: JSON.parse(await answer.text()) };
    };
    const post = async (path: string) =>
      JSON.parse(
        await (await fetch(`${server.url}/v1/responses/${path}`, { method: 'POST', headers: ALICE })).text(),
      );
    const open = () => openResponsesSocket(server.url, ALICE);
    return { ...server, runs, get, post, open };
  }

  it('leaves an answer that goes on in the background, for its key alone, and drops what waits', async () => {
    const held = gate();
    const { get, open, calls, runs, server } = await openWorld(heldAnswer(held, REST));
    const socket = await open();
    socket.create(ASK);
    socket.create(ASK);
    const id = await begunOn(socket);
    await held.reached;
    socket.webSocket.terminate();
    await until(async () => (await get(id)).status === 200);
    expect(await get(id)).toMatchObject({ status: 200, body: { id, status: 'in_progress' } });
    expect((await get(id, BOB.key)).status).toBe(404);
    held.open();
    await until(async () => (await get(id)).body.status === 'completed');
    const { body } = await get(id);
    expect(body.output).toMatchObject([
      { type: 'message', content: [{ type: 'output_text', text: 'hello' }] },
    ]);
    expect((await get(id, BOB.key)).status).toBe(404);
    expect(calls).toHaveLength(1);
    await until(async () => (await runs.get(id)) === undefined);
    // Another connection goes on from it.
    const again = await open();
    expect(textOf(await again.ask({ ...ASK, previous_response_id: id }))).toBe('hello');
    expect(calls[1]?.request.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    await server.drain(0);
  });

  it.each([
    ['it is stored nowhere', { store: false }, {}],
    ['it is the turn of an agent, which the same request resumes', {}, { 'x-session-id': 'ses_1' }],
  ])('cancels what runs where %s', async (_, asked, headers) => {
    const aborted = deferred<unknown>();
    const held = gate();
    const answer = heldAnswer(held, REST, headers);
    const { get, open, nextRequest } = await openWorld(async ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason));
      return answer();
    });
    const socket = await open();
    await nextRequest();
    socket.create({ ...ASK, ...asked });
    const id = await begunOn(socket);
    await held.reached;
    socket.webSocket.terminate();
    expect(await aborted.promise).toMatchObject({ stopCause: 'client-gone' });
    expect(await nextRequest()).toMatchObject({ status: 499, error: 'client_closed' });
    expect((await get(id)).status).toBe(404);
    held.open();
  });

  it('can be cancelled, and what fails is shown as failed', async () => {
    const held = gate();
    const failing: ModelEvent = { type: 'error', error: new GatewayError('upstream_failed', 'It broke.') };
    const { get, post, open } = await openWorld(heldAnswer(held, [failing]));
    const [one, two] = [await open(), await open()];
    const ids: string[] = [];
    for (const socket of [one, two]) {
      socket.create(ASK);
      ids.push(await begunOn(socket));
      socket.webSocket.terminate();
    }
    const [first = '', second = ''] = ids;
    for (const id of ids) await until(async () => (await get(id)).status === 200);
    expect(await post(`${first}/cancel`)).toMatchObject({ id: first, status: 'cancelled' });
    held.open();
    await until(async () => (await get(second)).body.status === 'failed');
    expect((await get(first)).body.status).toBe('cancelled');
  });

  it('leaves no more of a key than it may have in the background', async () => {
    const held = gate();
    let cancelled = 0;
    const answer = heldAnswer(held, REST);
    const { open } = await openWorld(async ({ signal }) => {
      signal.addEventListener('abort', () => {
        cancelled += 1;
      });
      return answer();
    });
    for (let connection = 0; connection < 5; connection++) {
      const socket = await open();
      const lanes = connection === 4 ? 1 : 16;
      for (let lane = 0; lane < lanes; lane++) socket.create({ ...ASK, stream_id: `l${lane}` });
      for (let lane = 0; lane < lanes; lane++) await begunOn(socket);
      socket.webSocket.terminate();
      if (connection === 4) await until(async () => cancelled === 1);
      else await socket.closed;
    }
    expect(cancelled).toBe(1);
    held.open();
  });
});

describe('draining', () => {
  it('lets answers finish, refuses new ones, and says that it is a restart', async () => {
    const held = gate();
    const { url, server } = await startServer({
      run: async () =>
        answerOf(
          (async function* (): AsyncGenerator<readonly ModelEvent[]> {
            yield HELLO[0] ?? [];
            await held.pass();
            yield* HELLO.slice(1);
          })(),
        ),
    });
    const idle = await openResponsesSocket(url);
    const busy = await openResponsesSocket(url);
    busy.create(ASK);
    await held.reached;
    busy.create(ASK);
    const drained = server.drain(60_000);
    expect(await idle.closed).toMatchObject({ code: 1012 });
    expect((await refusedSocket(url)).status).toBe(503);
    busy.create({ ...ASK, stream_id: 'late' });
    const isEnd = (type: unknown) => type === 'error' || type === 'response.completed';
    const ends = async () => {
      for (;;) {
        const event = await busy.next();
        if (isEnd(event['type'])) return event;
      }
    };
    expect(await ends()).toMatchObject({ type: 'error', status: 503, headers: { 'retry-after': '5' } });
    expect(await ends()).toMatchObject({ type: 'error', status: 503, stream_id: 'late' });
    held.open();
    expect(await ends()).toMatchObject({ type: 'response.completed' });
    expect(await busy.closed).toMatchObject({ code: 1012 });
    await drained;
  });

  it('aborts what runs after its time, and tells', async () => {
    const held = gate();
    const { url, server } = await startServer({
      run: async () =>
        answerOf(
          (async function* (): AsyncGenerator<readonly ModelEvent[]> {
            yield HELLO[0] ?? [];
            await held.pass();
          })(),
        ),
    });
    const socket = await openResponsesSocket(url);
    socket.create(ASK);
    await held.reached;
    await Promise.all([server.drain(0), socket.closed]);
    expect(socket.messages.at(-1)).toMatchObject({ type: 'response.failed' });
  });
});

/** One masked frame of a client. */
function frame(opcode: number, payload: Buffer, isLast = true): Buffer {
  const mask = createHash('sha256').update('mask').digest().subarray(0, 4);
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  const size =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | opcode, ...size]), mask, masked]);
}

/** What the library writes to: frames that it would not make go there. */
function socketOf(webSocket: object): Socket {
  const socket: unknown = Reflect.get(webSocket, '_socket');
  if (typeof socket === 'object' && socket !== null && 'write' in socket) return socket as Socket;
  throw new Error('The WebSocket has no socket');
}
