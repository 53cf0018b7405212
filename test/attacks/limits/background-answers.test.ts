/** Answers in the background of those who ask for too many, twice, for another's, or for more than there is. */
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../../support/gateway.js';
import { openRaw, requestBytes } from '../../support/raw-http.js';
import { inDialect } from '../../support/scripted-answers.js';
import { gate, type Script, sse, startUpstream } from '../../support/scripted-upstream.js';
import { until } from '../../support/until.js';
import { chatStream, textAnswer } from '../../support/wire.js';

const KEYS = ['alice', 'bob'].map((name) => ({ key: `secret-of-${name}`, name, scopes: ['call'] }));
const ASK = { model: 'm', input: 'What colour?', background: true };

interface Answered {
  id: string;
  status: string;
  error?: { message: string } | null;
}

async function open(script: Script) {
  const upstream = await startUpstream(script);
  const gateway = await startTestGateway({
    config: {
      server: { keys: KEYS },
      upstreams: { theirs: upstream.config('openai-chat') },
      models: { m: { upstream: 'theirs' } },
    },
  });
  const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/responses${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer secret-of-alice',
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const get = async (id: string): Promise<Answered> =>
    (await (await send('GET', `/${id}`)).json()) as Answered;
  return { upstream, gateway, send, get };
}

it('many that are asked for at once are no more than one after the other would be', async () => {
  const held = gate();
  const { send } = await open(() => sse([held]));
  const statuses = await Promise.all(
    Array.from({ length: 80 }, async () => (await send('POST', '', ASK)).status),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(64);
  expect(statuses.filter((status) => status === 429)).toHaveLength(16);
  const other = await send('POST', '', ASK, { authorization: 'Bearer secret-of-bob' });
  expect(other.status).toBe(200);
});

describe('a repeat under an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'once' };

  it('is the same answer, while it is made and after', async () => {
    const held = gate();
    const { send, get, upstream } = await open(() => sse([held, chatStream(textAnswer('Blue.'))]));
    const begun = (await (await send('POST', '', ASK, key)).json()) as Answered;
    const again = await send('POST', '', ASK, key);
    expect([again.status, await again.json()]).toMatchObject([200, { id: begun.id }]);
    held.open();
    await until(async () => (await get(begun.id)).status === 'completed');
    const after = await send('POST', '', ASK, key);
    expect([after.status, await after.json()]).toMatchObject([200, { id: begun.id, status: 'completed' }]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('with other words is refused, and does not get the answer to the first', async () => {
    const held = gate();
    const { send, get } = await open(() => sse([held, chatStream(textAnswer('Blue.'))]));
    const begun = (await (await send('POST', '', ASK, key)).json()) as Answered;
    const other = { ...ASK, input: 'Something else', user: 'another' };
    expect((await send('POST', '', other, key)).status).toBe(422);
    held.open();
    await until(async () => (await get(begun.id)).status === 'completed');
    expect((await send('POST', '', other, key)).status).toBe(422);
  });

  it('of another key is another answer', async () => {
    const { send } = await open(inDialect(textAnswer('Blue.')));
    const [mine, theirs] = await Promise.all([
      send('POST', '', ASK, key),
      send('POST', '', ASK, { ...key, authorization: 'Bearer secret-of-bob' }),
    ]);
    expect(((await mine.json()) as Answered).id).not.toBe(((await theirs.json()) as Answered).id);
  });
});

it('cancelled and deleted by many at once, it ends once, and stays deleted', async () => {
  const held = gate();
  const { send, upstream } = await open(() => sse([held]));
  const { id } = (await (await send('POST', '', ASK)).json()) as Answered;
  await held.reached;
  const cancelled = await Promise.all(
    Array.from({ length: 5 }, async () => (await send('POST', `/${id}/cancel`)).json() as Promise<Answered>),
  );
  expect(new Set(cancelled.map(({ status }) => status))).toEqual(new Set(['cancelled']));
  const deleted = await Promise.all(
    Array.from({ length: 5 }, async () => (await send('DELETE', `/${id}`)).status),
  );
  expect(deleted.filter((status) => status === 200)).toHaveLength(1);
  expect((await send('GET', `/${id}`)).status).toBe(404);
  expect(await upstream.requests[0]?.outcome).toBe('aborted');
});

it('read from behind its end, it ends without an event', async () => {
  const { send, get } = await open(inDialect(textAnswer('Blue.')));
  const begun = await send('POST', '', { ...ASK, stream: true });
  const [, id = ''] = /"id":"(resp_\w+)"/.exec(await begun.text()) ?? [];
  await until(async () => (await get(id)).status === 'completed');
  const beyond = await send('GET', `/${id}?stream=true&starting_after=100000`);
  expect([beyond.status, await beyond.text()]).toEqual([200, '']);
  for (const wrong of ['-5', 'x', '1e3', '99999999999999999999', '1.5']) {
    expect((await send('GET', `/${id}?stream=true&starting_after=${wrong}`)).status).toBe(400);
  }
});

it('asked for by HEAD, nothing of its events comes between two answers of the connection', async () => {
  const held = gate();
  const { send, gateway } = await open(() => sse([held, chatStream(textAnswer('Blue.'))]));
  const begun = await send('POST', '', { ...ASK, stream: true });
  const first = await begun.body?.getReader().read();
  const [, id = ''] = /"id":"(resp_\w+)"/.exec(Buffer.from(first?.value ?? []).toString()) ?? [];
  const connection = await openRaw(gateway.url);
  const headers = { authorization: 'Bearer secret-of-alice' };
  connection.expectNoBody();
  const path = `/v1/responses/${id}?stream=true`;
  await connection.send(requestBytes(gateway.url, { method: 'HEAD', path, headers }));
  await connection.head();
  held.open();
  await until(async () => (await send('GET', `/${id}`)).ok);
  const sent = connection.received.length;
  await connection.send(requestBytes(gateway.url, { path: '/v1/models', headers }));
  await connection.until(() => connection.received.includes('"object":"list"'));
  expect(connection.received.subarray(sent).toString()).toMatch(/^HTTP\/1\.1 200 OK/);
});
