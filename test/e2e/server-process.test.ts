/** The gateway as a whole: its store behind /api, its logs, its signals. */
import { describe, expect, it } from 'vitest';
import { startGatewayProcess, startTestGateway } from '../support/gateway.js';
import { openRaw } from '../support/raw-http.js';
import { gate, sse, startUpstream } from '../support/scripted-upstream.js';
import { parseSse } from '../support/sse.js';
import { until } from '../support/until.js';
import { turnBytes } from './server-harness.js';

const FIRST =
  'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"first"},"finish_reason":null}]}\n\n';
const LAST =
  'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** A process in the middle of a stream from an upstream that waits for the test. */
async function processInStream(drainSeconds: number) {
  const hold = gate();
  const upstream = await startUpstream(() => sse([FIRST, hold, LAST]));
  const gateway = await startGatewayProcess({
    logLevel: 'info',
    config: {
      server: { port: 0, drain_s: drainSeconds },
      upstreams: { up: { dialect: 'openai-chat', base_url: `${upstream.url}/v1` } },
      models: { '*': { upstream: 'up' } },
    },
    args: ['start', '--config', 'toolgate.yaml', '--log-level', 'info'],
  });
  const connection = await openRaw(gateway.url);
  await connection.send(turnBytes(gateway.url, { stream: true }));
  await connection.bodyHas('first');
  return { gateway, connection, hold };
}

describe('signals', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s lets a running stream finish and ends with 0',
    async (signal) => {
      const { gateway, connection, hold } = await processInStream(60);
      gateway.signal(signal);
      await until(async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
      hold.open();
      const { text, complete } = await connection.response();
      expect(complete).toBe(true);
      expect(parseSse(text).at(-1)?.event).toBe('message_stop');
      expect(await gateway.exited).toEqual({ code: 0, signal: null });
      const lines = gateway.stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.map(({ msg }) => msg)).toEqual(
        expect.arrayContaining(['listening', 'draining; a second signal ends at once', 'request', 'stopped']),
      );
    },
  );

  it('a second one ends at once', async () => {
    const { gateway, connection } = await processInStream(60);
    gateway.signal('SIGTERM');
    await until(async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 143, signal: null });
    await connection.until(() => false);
    expect(connection.ended).not.toBe('no');
  });

  it('what does not finish in time is ended with an error event', async () => {
    const { gateway, connection } = await processInStream(0);
    gateway.signal('SIGTERM');
    const { text } = await connection.response();
    expect(parseSse(text).at(-1)?.event).toBe('error');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

describe('what the store keeps', () => {
  const KEYS = [
    { key: 'key-alice-1', name: 'alice', scopes: ['call'] },
    { key: 'key-carol-1', name: 'carol', scopes: ['call', 'admin'] },
  ];
  const getJson = async (url: string, key: string) => JSON.parse(await (await fetch(url, as(key))).text());
  const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

  it('is shown: everyone sees their own, an administrator all', async () => {
    const folderGateway = await startTestGateway({
      config: { server: { keys: KEYS }, models: { '*': { upstream: 'demo' } } },
    });
    const { url, folder } = folderGateway;
    const ids: string[] = [];
    for (const key of ['key-alice-1', 'key-carol-1']) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...as(key).headers, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hello' }] }),
      });
      expect(response.status).toBe(200);
      ids.push(response.headers.get('x-toolgate-trace') ?? '');
    }
    // Rows are written together, later; a stop writes them all.
    await folderGateway.close();
    const again = await startTestGateway({ folder });

    const list = (key: string) => getJson(`${again.url}/api/traces`, key);
    expect((await list('key-carol-1')).data.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      ids.toSorted(),
    );
    expect((await list('key-alice-1')).data).toMatchObject([
      { id: ids[0], key: 'alice', model: 'demo', status: 200 },
    ]);
    expect((await fetch(`${again.url}/api/traces/${ids[0]}`, as('key-alice-1'))).status).toBe(200);
    expect((await fetch(`${again.url}/api/traces/${ids[1]}`, as('key-alice-1'))).status).toBe(404);
    expect((await fetch(`${again.url}/api/traces/${ids[0]}`, as('key-carol-1'))).status).toBe(200);
    expect((await fetch(`${again.url}/api/traces?limit=0`, as('key-carol-1'))).status).toBe(400);

    const usage = (key: string, query = '') => getJson(`${again.url}/api/usage${query}`, key);
    expect((await usage('key-carol-1', '?by=key,model')).data).toMatchObject([
      { key: 'alice', model: 'demo', requests: 1, errors: 0 },
      { key: 'carol', model: 'demo', requests: 1, errors: 0 },
    ]);
    expect((await usage('key-alice-1', '?by=key')).data).toMatchObject([{ key: 'alice', requests: 1 }]);
    expect((await usage('key-carol-1', '?from=2020-01-01&to=2020-02-01')).data).toEqual([]);
    expect((await usage('key-carol-1', '?by=colour')).error.message).toBe(
      'by: expected a list of model, key, team, upstream, session, day, hour.',
    );
  });
});
