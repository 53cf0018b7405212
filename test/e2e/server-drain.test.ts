/** Stopping: nobody is cut off in the middle who could still be served. */
import { describe, expect, it } from 'vitest';
import type { ModelEvent } from '../../src/core/events.js';
import { deferred, gate } from '../support/gate.js';
import { openRaw, requestBytes } from '../support/raw-http.js';
import { parseSse } from '../support/sse.js';
import { answerOf, HELLO, startServer, turnBytes } from './server-harness.js';

const STREAM = { stream: true };

/** A server with one stream running, held in its middle. */
async function withRunningStream() {
  const hold = gate();
  const aborted = deferred();
  const server = await startServer({
    run: async ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      return answerOf(
        (async function* (): AsyncGenerator<readonly ModelEvent[]> {
          yield HELLO[0] ?? [];
          await hold.pass();
          yield* HELLO.slice(1);
        })(),
      );
    },
  });
  const idle = await openRaw(server.url);
  await idle.send(requestBytes(server.url, { path: '/healthz' }));
  await idle.response();
  const running = await openRaw(server.url);
  await running.send(turnBytes(server.url, STREAM));
  await running.bodyHas('hel');
  return { ...server, hold, aborted: aborted.promise, running, idle };
}

describe('draining', () => {
  it('finishes what runs, refuses what comes, and then closes everything', async () => {
    const { server, url, running, idle, hold } = await withRunningStream();
    const drained = server.drain(60_000);

    await idle.send(turnBytes(url));
    const refused = await idle.response();
    expect(refused.status).toBe(503);
    expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '5' });
    expect(refused.json()).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error', message: 'The gateway is shutting down. Send the request again.' },
    });
    await idle.until(() => false);
    expect(idle.ended).toBe('closed');

    for (const [path, status] of [
      ['/readyz', 503],
      ['/healthz', 200],
      ['/metrics', 200],
      ['/v1/models', 503],
      ['/api/session', 503],
    ] as const) {
      const connection = await openRaw(url);
      await connection.send(requestBytes(url, { path }));
      const response = await connection.response();
      expect([path, response.status, response.headers['connection']]).toEqual([path, status, 'close']);
    }

    hold.open();
    const { text, complete } = await running.response();
    expect(complete).toBe(true);
    expect(parseSse(text).at(-1)?.event).toBe('message_stop');
    await drained;
    await running.until(() => false);
    expect(running.ended).toBe('closed');
    await expect(openRaw(url)).rejects.toThrow('ECONNREFUSED');
  });

  it('ends with an error event what takes longer than its time', async () => {
    const { server, running, aborted, nextRequest } = await withRunningStream();
    await nextRequest();
    await server.drain(0);
    await aborted;
    const { text, complete } = await running.response();
    expect(complete).toBe(true);
    const last = parseSse(text).at(-1);
    expect(last?.event).toBe('error');
    expect(JSON.parse(last?.data ?? '{}')).toMatchObject({
      error: { type: 'overloaded_error', message: 'The gateway is shutting down. Send the request again.' },
    });
    expect(await nextRequest()).toMatchObject({ status: 200, error: 'unavailable' });
  });

  it('answers with 503 what has not begun to answer', async () => {
    const asked = deferred();
    const { server, url } = await startServer({
      run: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url));
    await asked.promise;
    await server.drain(0);
    expect((await connection.response()).status).toBe(503);
  });

  it('is over at once when nothing runs', async () => {
    const { server, url } = await startServer();
    const idle = await openRaw(url);
    await idle.send(requestBytes(url, { path: '/healthz' }));
    await idle.response();
    await server.drain(60_000);
    await idle.until(() => false);
    expect(idle.ended).toBe('closed');
    await server.close();
  });

  it('does not wait for a client that has gone', async () => {
    const { server, running } = await withRunningStream();
    const drained = server.drain(60_000);
    await running.leave();
    await drained;
  });
});
