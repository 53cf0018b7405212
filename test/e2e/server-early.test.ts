/** An engine that is silent for long: the head and pings go out before it says a word. */
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.js';
import type { Answer } from '../../src/engines/engine.js';
import { deferred } from '../support/gate.js';
import { openRaw } from '../support/raw-http.js';
import { parseSse } from '../support/sse.js';
import { answerOf, HELLO, startServer, turnBytes } from './server-harness.js';

const QUICK_PING = { pingMs: 15 };

describe('a stream whose engine is silent', () => {
  it('is kept alive by pings and then answered', async () => {
    const late = deferred<Answer>();
    const { url } = await startServer({ run: () => late.promise, limits: QUICK_PING });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, { stream: true }));
    await connection.until(() => connection.body.toString().split('event: ping').length > 2);
    late.resolve(answerOf(HELLO));
    const { status, text } = await connection.response();
    expect(status).toBe(200);
    const types = parseSse(text).map(({ event }) => event);
    expect(types.filter((type) => type !== 'ping')).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('names in its head what the engine knew by then', async () => {
    const late = deferred<Answer>();
    const { url } = await startServer({
      run: (call) => {
        call.announce?.({ 'x-session-id': 's_1' });
        return late.promise;
      },
      limits: QUICK_PING,
    });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, { stream: true }));
    await connection.until(() => connection.body.toString().includes('event: ping'));
    late.resolve(answerOf(HELLO));
    const { headers } = await connection.response();
    expect(headers).toMatchObject({ 'x-session-id': 's_1' });
  });

  it('ends with an error event when the engine fails after that', async () => {
    const late = deferred<Answer>();
    const { url } = await startServer({ run: () => late.promise, limits: QUICK_PING });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, { stream: true }));
    await connection.until(() => connection.body.toString().includes('event: ping'));
    late.reject(new GatewayError('overloaded', 'The upstream is overloaded.'));
    const { text, complete } = await connection.response();
    expect(complete).toBe(true);
    expect(parseSse(text).at(-1)).toMatchObject({ event: 'error' });
    expect(text).toContain('overloaded_error');
  });

  it('keeps its status open until the first ping is due', async () => {
    const { url } = await startServer({
      run: async () => {
        throw new GatewayError('overloaded', 'The upstream is overloaded.');
      },
    });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, { stream: true }));
    expect((await connection.response()).status).toBe(529);
  });

  it('does not touch an answer that is not streamed', async () => {
    const late = deferred<Answer>();
    const { url } = await startServer({ run: () => late.promise, limits: QUICK_PING });
    const [waiting, streaming] = [await openRaw(url), await openRaw(url)];
    await waiting.send(turnBytes(url, { stream: false }));
    await streaming.send(turnBytes(url, { stream: true }));
    await streaming.until(() => streaming.body.toString().split('event: ping').length > 2);
    expect(waiting.received.length).toBe(0);
    late.reject(new GatewayError('overloaded', 'The upstream is overloaded.'));
    expect((await waiting.response()).status).toBe(529);
  });
});
