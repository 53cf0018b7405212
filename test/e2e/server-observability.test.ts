/** What is left of a request: a log line, metrics, a usage row, a trace. */
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.js';
import { requestBytes, sendRaw } from '../support/raw-http.js';
import { answerOf, HELLO, startServer, turnBytes } from './server-harness.js';

const BUSY = { type: 'error', error: new GatewayError('overloaded', 'busy') } as const;

describe('a turn', () => {
  it('leaves one line, one usage row and one trace under its request id', async () => {
    const { url, lines, usage, traces, nextRequest } = await startServer({
      run: async () => answerOf(HELLO, { losses: [{ path: 'thinking', reason: 'x' }] }),
    });
    const response = await sendRaw(
      url,
      turnBytes(url, { stream: true }, '/v1/messages?key=secret', { 'x-request-id': 'my-1' }),
    );
    await nextRequest();
    const id = response.headers['request-id'];
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 'info',
      message: 'request',
      facts: {
        id,
        client_id: 'my-1',
        method: 'POST',
        path: '/v1/messages',
        status: 200,
        model: 'm',
        stream: true,
        upstream: 'fake',
        key: 'local',
        input_tokens: 5,
        output_tokens: 2,
        stop: 'end_turn',
        losses: 1,
        ms: expect.any(Number),
        first_token_ms: expect.any(Number),
      },
    });
    expect(usage).toEqual([
      expect.objectContaining({
        principal: 'local',
        model: 'm',
        upstream: 'fake',
        status: 200,
        inputTokens: 5,
        outputTokens: 2,
        firstTokenMs: expect.any(Number),
      }),
    ]);
    expect(traces).toEqual([
      expect.objectContaining({
        id,
        principal: 'local',
        status: 200,
        losses: [{ path: 'thinking', reason: 'x' }],
        summary: expect.objectContaining({ path: '/v1/messages', stop_reason: 'end_turn', error: null }),
      }),
    ]);
  });

  it('has a cost where the price is known, and names the session of an agent', async () => {
    const price = { input: 1_000_000, output: 10_000_000, cacheRead: 0, cacheWrite: 0 };
    const { url, usage, nextRequest } = await startServer({
      run: async () => answerOf(HELLO, { price, headers: { 'x-session-id': 's_1' } }),
    });
    await sendRaw(url, turnBytes(url));
    await nextRequest();
    expect(usage).toEqual([expect.objectContaining({ costUsd: 5 + 20, session: 's_1' })]);
  });

  it('that failed leaves the same, with the reason', async () => {
    const { url, lines, usage, traces, nextRequest } = await startServer({
      run: async () => {
        throw new GatewayError('upstream_failed', 'Nobody answers.');
      },
    });
    await sendRaw(url, turnBytes(url));
    await nextRequest();
    expect(lines[0]).toMatchObject({
      level: 'warn',
      facts: { status: 502, error: 'upstream_failed', message: 'Nobody answers.', model: 'm' },
    });
    expect(usage).toEqual([expect.objectContaining({ status: 502, inputTokens: 0 })]);
    expect(traces[0]?.summary['error']).toEqual({ code: 'upstream_failed', message: 'Nobody answers.' });
  });

  it.each([
    ['a stream', true, [HELLO.flat()], true],
    ['an answer that is sent whole', false, [HELLO.flat()], false],
    ['a stream in which nothing was said', true, [[{ type: 'start' }], [{ type: 'ping' }], [BUSY]], false],
  ] as const)('first token of %s', async (_name, stream, batches, has) => {
    const { url, usage, nextRequest } = await startServer({ run: async () => answerOf(batches) });
    await sendRaw(url, turnBytes(url, { stream }));
    await nextRequest();
    expect(typeof usage[0]?.firstTokenMs).toBe(has ? 'number' : 'undefined');
  });

  it.each([
    ['text/event-stream', true],
    ['application/json', false],
  ])('first token of bytes that are passed on as %s', async (contentType, has) => {
    const chunks = (async function* () {
      yield Buffer.from('{}');
    })();
    const body = { kind: 'bytes', status: 200, contentType, chunks, usage: () => undefined } as const;
    const { url, usage, nextRequest } = await startServer({ run: async () => ({ ...answerOf([]), body }) });
    await sendRaw(url, turnBytes(url, { stream: has }));
    await nextRequest();
    expect(typeof usage[0]?.firstTokenMs).toBe(has ? 'number' : 'undefined');
  });

  it('that broke in the middle is a failure in usage, though its status was 200', async () => {
    const { url, usage, nextRequest } = await startServer({
      run: async () => answerOf([[{ type: 'text', text: 'x' }], [BUSY]]),
    });
    await sendRaw(url, turnBytes(url, { stream: true }));
    expect(await nextRequest()).toMatchObject({ status: 200, error: 'overloaded' });
    expect(usage[0]?.status).toBe(529);
  });

  it('counts what the lifecycle had to mend', async () => {
    const { url, traces, nextRequest } = await startServer({
      run: async () =>
        answerOf([
          [
            { type: 'text', text: 'x' },
            { type: 'stop', reason: 'tool_use' },
          ],
        ]),
    });
    await sendRaw(url, turnBytes(url));
    expect(await nextRequest()).toMatchObject({ repairs: { 'stop-reason': 1 } });
    expect(traces[0]?.repairs).toEqual(['stop-reason']);
  });
});

describe('other requests', () => {
  it('leave a line alone, and probes only a quiet one', async () => {
    const { url, lines, usage, nextRequest } = await startServer();
    await sendRaw(url, requestBytes(url, { path: '/v1/models' }));
    await nextRequest();
    await sendRaw(url, requestBytes(url, { path: '/healthz' }));
    await nextRequest();
    expect(lines.map(({ level, facts }) => [level, facts['path']])).toEqual([
      ['info', '/v1/models'],
      ['debug', '/healthz'],
    ]);
    expect(usage).toHaveLength(0);
  });

  it.each(['x'.repeat(200), 'a b', 'a\tb', '<script>'])('do not log the request id %j', async (given) => {
    const { url, nextRequest } = await startServer();
    await sendRaw(url, requestBytes(url, { path: '/v1/models', headers: { 'x-request-id': given } }));
    expect(await nextRequest()).not.toHaveProperty('client_id');
  });
});

describe('health', () => {
  it('is alive, and ready while the store answers', async () => {
    const { url } = await startServer();
    expect((await sendRaw(url, requestBytes(url, { path: '/healthz' }))).text).toBe('{"status":"ok"}');
    expect((await sendRaw(url, requestBytes(url, { path: '/readyz' }))).text).toBe('{"status":"ready"}');
  });

  it('is alive but not ready without the store', async () => {
    const { url } = await startServer({ storeProbe: () => Promise.reject(new Error('disk gone')) });
    expect((await sendRaw(url, requestBytes(url, { path: '/healthz' }))).status).toBe(200);
    const ready = await sendRaw(url, requestBytes(url, { path: '/readyz' }));
    expect(ready.status).toBe(503);
    expect(ready.text).not.toContain('disk gone');
  });
});

describe('metrics', () => {
  it('count requests by route, never by path', async () => {
    const { url, nextRequest } = await startServer();
    for (const path of ['/v1/models/a', '/v1/models/gpt-5', '/nowhere/1', '/nowhere/2']) {
      await sendRaw(url, requestBytes(url, { path }));
      await nextRequest();
    }
    await sendRaw(url, turnBytes(url, { stream: true }));
    await nextRequest();
    const { text, headers } = await sendRaw(url, requestBytes(url, { path: '/metrics' }));
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain(
      'toolgate_requests_total{route="/v1/models/*id",method="GET",status="404",model=""} 1\n',
    );
    expect(text).toContain(
      'toolgate_requests_total{route="unmatched",method="GET",status="404",model=""} 2\n',
    );
    expect(text).toContain(
      'toolgate_requests_total{route="/v1/messages",method="POST",status="200",model="m"} 1\n',
    );
    expect(text).toContain('toolgate_first_token_seconds_count{route="/v1/messages"} 1\n');
    expect(text).toContain('toolgate_open_requests 1\n');
    expect(text).not.toContain('nowhere');
  });
});
