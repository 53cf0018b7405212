/** Streamed answers: framing, back-pressure, pings, errors in the middle, clients that leave. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.js';
import type { ModelEvent } from '../../src/core/events.js';
import type { Answer, ModelRequest } from '../../src/engines/engine.js';
import { closeAfterTest } from '../support/cleanup.js';
import { deferred, gate } from '../support/gate.js';
import { openAndAbandon, openRaw, requestBytes, sendRaw } from '../support/raw-http.js';
import { parseSse, parseSseText } from '../support/sse.js';
import { answerOf, HELLO, startServer, turnBytes } from './server-harness.js';

const STREAM = { stream: true };
const textsOf = (body: string) =>
  parseSse(body).flatMap(({ data }) => {
    const { delta } = JSON.parse(data);
    return typeof delta?.text === 'string' ? [delta.text] : [];
  });

/** An answer of bytes. */
function bytesOf(
  chunks: AsyncIterable<Uint8Array>,
  contentType = 'text/event-stream',
  usage: ReturnType<Extract<Answer['body'], { kind: 'bytes' }>['usage']> = undefined,
): Answer {
  return {
    upstream: 'fake',
    losses: [],
    headers: {},
    body: { kind: 'bytes', status: 200, contentType, chunks, usage: () => usage },
  };
}

async function* chunksOf(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

describe('a stream of events', () => {
  it('has the headers that clients and proxies expect', async () => {
    const { url } = await startServer({
      run: async () =>
        answerOf(HELLO, {
          losses: [{ path: 'tools.web_search', reason: 'not known there' }],
          headers: { 'x-session-id': 's1' },
        }),
    });
    const { headers, text, complete } = await sendRaw(url, turnBytes(url, STREAM));
    expect(complete).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'transfer-encoding': 'chunked',
      'x-toolgate-upstream': 'fake',
      'x-toolgate-losses': 'tools.web_search: not known there',
      'x-session-id': 's1',
    });
    expect(headers['x-toolgate-trace']).toBe(headers['request-id']);
    expect(textsOf(text)).toEqual(['hel', 'lo']);
    const start = JSON.parse(parseSse(text)[0]?.data ?? '{}');
    expect(start.message.id).toBe(headers['request-id']?.replace('req_', 'msg_'));
    expect(start.message.model).toBe('m');
  });

  it('is one chunk for each batch', async () => {
    const { url } = await startServer();
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, STREAM));
    await connection.response();
    const [, framed = ''] = connection.received.toString().split(/\r\n\r\n(.*)/s);
    const sizes = [...framed.matchAll(/(?:^|\r\n)([0-9a-f]+)\r\n/g)].map((match) => match[1]);
    expect(sizes).toHaveLength(HELLO.length + 1);
    expect(sizes.at(-1)).toBe('0');
  });

  it('carries every script, with the right sizes', async () => {
    const words = ['é', '中文', '😀', '\u0000', 'x'.repeat(100_000), `${'é'.repeat(50_000)}`];
    const { url } = await startServer({
      run: async () =>
        answerOf([
          ...words.map((text): ModelEvent[] => [{ type: 'text', text }]),
          [{ type: 'stop', reason: 'end_turn' }],
        ]),
    });
    const { text, complete } = await sendRaw(url, turnBytes(url, STREAM));
    expect(complete).toBe(true);
    expect(textsOf(text)).toEqual(words);
  });

  it('sends its head at once, also when the first word takes long', async () => {
    const hold = gate();
    const { url } = await startServer({
      run: async () =>
        answerOf(
          (async function* () {
            await hold.pass();
            yield* HELLO;
          })(),
        ),
    });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, STREAM));
    await connection.head();
    expect(connection.body).toHaveLength(0);
    hold.open();
    expect(textsOf((await connection.response()).text)).toEqual(['hel', 'lo']);
  });

  it('is not chunked for HTTP/1.0; the end of the connection is its end', async () => {
    const { url } = await startServer();
    const request = turnBytes(url, STREAM).toString().replace('HTTP/1.1', 'HTTP/1.0');
    const connection = await openRaw(url);
    await connection.send(request);
    const response = await connection.response();
    expect(response.headers['transfer-encoding']).toBeUndefined();
    expect(textsOf(response.text)).toEqual(['hel', 'lo']);
  });

  it('pings while nothing else is said', async () => {
    const hold = gate();
    const { url } = await startServer({
      limits: { pingMs: 15 },
      run: async () =>
        answerOf(
          (async function* () {
            yield HELLO[0] ?? [];
            await hold.pass();
            yield* HELLO.slice(1);
          })(),
        ),
    });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, STREAM));
    await connection.until(() => connection.body.toString().split('event: ping').length > 3);
    hold.open();
    const { text } = await connection.response();
    expect(textsOf(text)).toEqual(['hel', 'lo']);
  });

  it('keeps the connection for the next request', async () => {
    const { url } = await startServer();
    const connection = await openRaw(url);
    for (let round = 0; round < 3; round++) {
      await connection.send(turnBytes(url, STREAM));
      expect((await connection.response()).complete).toBe(true);
    }
  });

  it.each([
    ['an error event', new GatewayError('overloaded', 'Too busy.'), 'overloaded_error', 'Too busy.'],
    [
      'a bug',
      new TypeError('secret'),
      'api_error',
      'Internal error in the gateway. The request id identifies it in the gateway log.',
    ],
  ])('ends with an error event after %s in the middle', async (_what, failure, type, message) => {
    const { url, nextRequest, lines } = await startServer({
      run: async () =>
        answerOf(
          (async function* (): AsyncGenerator<readonly ModelEvent[]> {
            yield [{ type: 'text', text: 'half' }];
            if (failure instanceof GatewayError) yield [{ type: 'error', error: failure }];
            else throw failure;
          })(),
        ),
    });
    const { text, complete, status } = await sendRaw(url, turnBytes(url, STREAM));
    const last = parseSse(text).at(-1);
    expect([status, complete, last?.event]).toEqual([200, true, 'error']);
    expect(JSON.parse(last?.data ?? '{}')).toMatchObject({ type: 'error', error: { type, message } });
    const line = await nextRequest();
    expect(line['error']).toBe(failure instanceof GatewayError ? 'overloaded' : 'internal');
    expect(lines.some(({ message }) => message === 'bug while streaming')).toBe(
      !(failure instanceof GatewayError),
    );
  });

  it('stops pulling after an error', async () => {
    let cancelled = false;
    const { url } = await startServer({
      run: async () =>
        answerOf(
          (async function* (): AsyncGenerator<readonly ModelEvent[]> {
            try {
              yield [{ type: 'error', error: new GatewayError('overloaded', 'Too busy.') }];
              throw new Error('pulled on');
            } finally {
              cancelled = true;
            }
          })(),
        ),
    });
    await sendRaw(url, turnBytes(url, STREAM));
    expect(cancelled).toBe(true);
  });

  it('is an error event too when the engine ends without a word', async () => {
    const { url } = await startServer({ run: async () => answerOf([]) });
    const { text } = await sendRaw(url, turnBytes(url, STREAM));
    expect(parseSse(text).at(-1)?.event).toBe('error');
  });
});

describe('a slow reader', () => {
  it('is not overtaken: the engine is not pulled ahead of it', async () => {
    let pulled = 0;
    const text = 'x'.repeat(64 * 1024);
    const total = 2000;
    const { url } = await startServer({
      run: async () =>
        answerOf(
          (async function* (): AsyncGenerator<readonly ModelEvent[]> {
            for (; pulled < total; pulled++) yield [{ type: 'text', text }];
            yield [{ type: 'stop', reason: 'end_turn' }];
          })(),
        ),
    });
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    closeAfterTest(() => socket.destroy());
    await once(socket, 'connect');
    socket.pause();
    socket.write(turnBytes(url, STREAM));
    // Sent to the same server on other connections: when they are answered, the stream has had its turns.
    let before = -1;
    while (before !== pulled || pulled === 0) {
      before = pulled;
      for (let round = 0; round < 20; round++) await sendRaw(url, requestBytes(url, { path: '/healthz' }));
    }
    expect(pulled).toBeLessThan(total / 2);
    let received = 0;
    const whole = deferred();
    let tail = '';
    socket.on('data', (bytes) => {
      received += bytes.length;
      tail = (tail + bytes.subarray(-16).toString('latin1')).slice(-16);
      if (tail.endsWith('\r\n0\r\n\r\n')) whole.resolve();
    });
    socket.resume();
    await whole.promise;
    expect(pulled).toBe(total);
    expect(received).toBeGreaterThan(total * text.length);
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
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    socket.on('error', () => {});
    closeAfterTest(() => socket.destroy());
    await once(socket, 'connect');
    socket.pause();
    socket.write(turnBytes(url, STREAM));
    await aborted.promise;
    expect(await nextRequest()).toMatchObject({ status: 499, error: 'client_closed' });
  });

  it('is given up too when the answer is whole and it takes nothing of it', async () => {
    const text = 'x'.repeat(64 * 1024 * 1024);
    const { url, nextRequest } = await startServer({
      limits: { stallMs: 30 },
      run: async () =>
        answerOf([
          [
            { type: 'text', text },
            { type: 'stop', reason: 'end_turn' },
          ],
        ]),
    });
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    socket.on('error', () => {});
    closeAfterTest(() => socket.destroy());
    await once(socket, 'connect');
    socket.pause();
    socket.write(turnBytes(url));
    expect(await nextRequest()).toMatchObject({ status: 499 });
  });
});

describe('a client that leaves', () => {
  /** An engine that never says more than `first`, and tells when it was cancelled. */
  function endless(first: readonly ModelEvent[]) {
    const aborted = deferred<unknown>();
    const returned = deferred();
    const run = async ({ signal }: ModelRequest): Promise<Answer> => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason));
      let said = false;
      const batches: AsyncIterable<readonly ModelEvent[]> = {
        [Symbol.asyncIterator]: () => ({
          next() {
            if (said) return new Promise(() => {});
            said = true;
            return Promise.resolve({ done: false, value: first });
          },
          async return() {
            returned.resolve();
            return { done: true, value: undefined };
          },
        }),
      };
      return { upstream: 'fake', losses: [], headers: {}, body: { kind: 'events', batches } };
    };
    return { run, aborted: aborted.promise, returned: returned.promise };
  }

  it.each(['close', 'reset'] as const)('by %s in the middle of a stream cancels the work', async (how) => {
    const engine = endless([{ type: 'text', text: 'first' }]);
    const { url, nextRequest } = await startServer({ run: engine.run });
    await openAndAbandon(url, turnBytes(url, STREAM), { after: 'first', how });
    expect(await engine.aborted).toMatchObject({ code: 'client_closed' });
    await engine.returned;
    expect(await nextRequest()).toMatchObject({ status: 499, error: 'client_closed', stream: true });
  });

  it('before an answer without a stream is whole cancels the work', async () => {
    const engine = endless([{ type: 'text', text: 'first' }]);
    const { url } = await startServer({ run: engine.run });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url));
    await connection.leave();
    await engine.aborted;
    await engine.returned;
  });

  it('before the first token cancels the work, and an answer that comes later', async () => {
    const late = deferred<Answer>();
    const asked = deferred();
    const aborted = deferred();
    let returned = false;
    const { url, nextRequest } = await startServer({
      run: ({ signal }) => {
        signal.addEventListener('abort', () => aborted.resolve());
        asked.resolve();
        return late.promise;
      },
    });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, STREAM));
    await asked.promise;
    await connection.leave();
    await aborted.promise;
    expect(await nextRequest()).toMatchObject({ status: 499, error: 'client_closed' });
    late.resolve({
      ...answerOf([]),
      body: {
        kind: 'events',
        batches: {
          [Symbol.asyncIterator]: () => ({
            next: () => Promise.reject(new Error('nobody wants this')),
            async return() {
              returned = true;
              return { done: true, value: undefined };
            },
          }),
        },
      },
    });
    await late.promise;
    await sendRaw(url, turnBytes(url, {}, '/v1/models'));
    expect(returned).toBe(true);
  });

  it('while its body is read leaves nothing behind', async () => {
    const { url, nextRequest, calls, server } = await startServer();
    const connection = await openRaw(url);
    await connection.send(turnBytes(url).subarray(0, -5));
    await connection.leave();
    // By the time of the reset, the server may see a connection that ended or one that broke.
    expect(['client_closed', 'invalid_request']).toContain((await nextRequest())['error']);
    expect(calls).toHaveLength(0);
    await server.drain(0);
  });

  it('cancels the pipelined requests behind the one that runs', async () => {
    const engine = endless([{ type: 'text', text: 'first' }]);
    let aborts = 0;
    const both = deferred();
    const { url } = await startServer({
      run: (call) => {
        call.signal.addEventListener('abort', () => {
          aborts += 1;
          if (aborts === 2) both.resolve();
        });
        return engine.run(call);
      },
    });
    const connection = await openRaw(url);
    await connection.send(Buffer.concat([turnBytes(url, STREAM), turnBytes(url, STREAM)]));
    await connection.bodyHas('first');
    await connection.leave();
    await both.promise;
  });

  it('200 of them leave no stream open', async () => {
    let open = 0;
    const { url, nextRequest, server } = await startServer({
      run: async ({ signal }) =>
        answerOf(
          (async function* (): AsyncGenerator<readonly ModelEvent[]> {
            open += 1;
            try {
              yield [{ type: 'text', text: 'first' }];
              await new Promise<void>((gone) => signal.addEventListener('abort', () => gone()));
            } finally {
              open -= 1;
            }
          })(),
        ),
    });
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: 20 }, () => openAndAbandon(url, turnBytes(url, STREAM), { after: 'first' })),
      );
    }
    for (let index = 0; index < 200; index++) await nextRequest();
    expect(open).toBe(0);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('toolgate_open_streams 0\n');
    await server.close();
  });
});

describe('the byte lane', () => {
  const SSE = ['event: a\ndata: {"x":"é"}\n\n', 'event: b\nda', 'ta: 2\n\n'];

  it('forwards what the upstream said, byte for byte', async () => {
    const { url, nextRequest } = await startServer({
      run: async () => bytesOf(chunksOf(...SSE), 'text/event-stream; charset=utf-8', { inputTokens: 3 }),
    });
    const { text, headers, complete } = await sendRaw(url, turnBytes(url, STREAM));
    expect([text, complete]).toEqual([SSE.join(''), true]);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      'x-toolgate-upstream': 'fake',
    });
    expect(await nextRequest()).toMatchObject({ status: 200, input_tokens: 3 });
  });

  it('forwards large and small chunks whole', async () => {
    const sizes = [1, 4095, 4096, 4097, 300_000, 0, 7];
    const { url } = await startServer({
      run: async () => bytesOf(chunksOf(...sizes.map((size) => 'y'.repeat(size))), 'application/json'),
    });
    const { text, complete, headers } = await sendRaw(url, turnBytes(url));
    expect(complete).toBe(true);
    expect(text).toBe('y'.repeat(sizes.reduce((sum, size) => sum + size)));
    expect(headers['content-type']).toBe('application/json');
    expect(headers['cache-control']).toBeUndefined();
  });

  it('says an error event when the upstream breaks in the middle of an event', async () => {
    const { url } = await startServer({
      run: async () =>
        bytesOf(
          (async function* () {
            yield* chunksOf('event: a\ndata: {"half');
            throw new GatewayError('upstream_failed', 'It broke.');
          })(),
        ),
    });
    const { text, complete } = await sendRaw(url, turnBytes(url, STREAM));
    expect(complete).toBe(true);
    const { events } = parseSseText(text);
    expect(events.at(-1)?.event).toBe('error');
    expect(JSON.parse(events.at(-1)?.data ?? '{}')).toMatchObject({ error: { message: 'It broke.' } });
  });

  it('breaks the connection when a JSON answer breaks', async () => {
    const hold = gate();
    const { url } = await startServer({
      run: async () =>
        bytesOf(
          (async function* () {
            yield* chunksOf('{"half":');
            await hold.pass();
            throw new GatewayError('upstream_failed', 'It broke.');
          })(),
          'application/json',
        ),
    });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url));
    await connection.bodyHas('half');
    hold.open();
    expect(await connection.response()).toMatchObject({ text: '{"half":', complete: false });
  });

  it('pings between events and never inside of one', async () => {
    const inside = gate();
    const between = gate();
    const { url } = await startServer({
      limits: { pingMs: 15 },
      run: async ({ request }) =>
        bytesOf(
          (async function* () {
            yield* chunksOf('data: 1\n\n');
            if (request.model === 'other') await between.pass();
            yield* chunksOf('data: ');
            await inside.pass();
            yield* chunksOf('2\n\n');
            await between.pass();
            yield* chunksOf('data: 3\n\n');
          })(),
        ),
    });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, STREAM));
    await connection.bodyHas('data: ');
    // One clock pings all streams: when the other one has had three, this one had three chances.
    const other = await openRaw(url);
    await other.send(turnBytes(url, { ...STREAM, model: 'other' }));
    await other.until(() => other.body.toString().split(': ping').length > 3);
    inside.open();
    await connection.bodyHas(': ping\n\n');
    between.open();
    const { text } = await connection.response();
    expect(text.replaceAll(': ping\n\n', '')).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n');
    expect(text).toContain('data: 2\n\n: ping\n\n');
  });
});

describe('an answer without a stream', () => {
  it('is one JSON body with its length', async () => {
    const { url } = await startServer({
      run: async () => answerOf(HELLO, { losses: [{ path: 'thinking', reason: 'not known there' }] }),
    });
    const { headers, json, body } = await sendRaw(url, turnBytes(url));
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-toolgate-losses': 'thinking: not known there',
      'x-toolgate-upstream': 'fake',
    });
    expect(json()).toMatchObject({
      model: 'm',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
    });
  });

  it('tells the engine the final figures', async () => {
    const settled: unknown[] = [];
    const { url } = await startServer({
      run: async () => answerOf(HELLO, { promptTokens: 99, settle: (usage) => void settled.push(usage) }),
    });
    await sendRaw(url, turnBytes(url));
    await sendRaw(url, turnBytes(url, STREAM));
    const usage = { inputTokens: 5, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
    expect(settled).toEqual([usage, usage]);
  });
});

describe('what an engine gets', () => {
  it('is the request without the credentials of its client', async () => {
    const { url, calls } = await startServer();
    const headers = {
      authorization: 'Bearer secret',
      'x-api-key': 'secret',
      'api-key': 'secret',
      'x-goog-api-key': 'secret',
      cookie: 'a=secret',
      'proxy-authorization': 'Basic secret',
      'anthropic-beta': 'x',
      'user-agent': 'test',
    };
    const { headers: answer } = await sendRaw(url, turnBytes(url, {}, '/v1/messages?beta=true', headers));
    expect(calls[0]?.headers).toEqual({
      'content-type': 'application/json',
      'anthropic-beta': 'x',
      'user-agent': 'test',
    });
    expect(calls[0]?.id).toBe(answer['request-id']);
    expect(calls[0]?.principal.name).toBe('local');
  });
});
