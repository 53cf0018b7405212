/** A key with a budget asks in a way by which its answers are counted as nothing. */
import { describe, expect, it } from 'vitest';
import { DIALECT_NAMES, type DialectName } from '../../../src/core/conversation.js';
import { startTestGateway } from '../../support/gateway.js';
import { openResponsesSocket } from '../../support/responses-socket.js';
import { inDialect } from '../../support/scripted-answers.js';
import { gate, json, type Script, sse, startUpstream } from '../../support/scripted-upstream.js';
import { until } from '../../support/until.js';
import {
  anthropicStream,
  chatStream,
  responsesStream,
  type Scripted,
  textAnswer,
} from '../../support/wire.js';

const PATHS: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
};

const STREAMS: Readonly<Record<DialectName, (answer: Scripted) => string>> = {
  'anthropic-messages': anthropicStream,
  'openai-chat': chatStream,
  'openai-responses': responsesStream,
};

const ESSAY = 'All that a budget can buy. '.repeat(40);
const DEAR = textAnswer('Here.', { usage: { input: 90, output: 30 } });
const KEY = { authorization: 'Bearer k-alice' };

/** A dollar a token, and a budget that any answer spends. */
async function open(dialect: DialectName, script: Script) {
  const upstream = await startUpstream(script);
  const gateway = await startTestGateway({
    config: {
      server: { keys: [{ key: 'k-alice', name: 'alice', budget: { usd: 100, per: 'month' } }] },
      upstreams: { up: upstream.config(dialect) },
      models: { m: { upstream: 'up', price: { input: 1_000_000, output: 1_000_000 } } },
    },
  });
  const post = (path: string, body: object, signal?: AbortSignal): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...KEY },
      body: JSON.stringify({ model: 'm', ...body }),
      ...(signal === undefined ? {} : { signal }),
    });
  /** What the gateway takes the key to have spent. */
  const spent = async (): Promise<number> => {
    const usage = await fetch(`${gateway.url}/api/usage?by=key`, { headers: KEY });
    const { data } = (await usage.json()) as { data: { cost_usd: number }[] };
    return data.reduce((sum, { cost_usd: usd }) => sum + usd, 0);
  };
  return { gateway, upstream, post, spent };
}

const asked = (dialect: DialectName): object =>
  dialect === 'openai-responses'
    ? { input: 'Write.' }
    : { max_tokens: 1000, messages: [{ role: 'user', content: 'Write.' }] };

describe.each(DIALECT_NAMES)('an answer of %s that is forwarded as it is', (dialect) => {
  it('is counted where its client leaves before the upstream says what it cost', async () => {
    const held = gate();
    const whole = STREAMS[dialect](textAnswer(ESSAY));
    const cut = whole.indexOf('\n\n', whole.indexOf(ESSAY)) + 2;
    const { post, spent } = await open(dialect, () => sse([whole.slice(0, cut), held, whole.slice(cut)]));
    const leaving = new AbortController();
    const answer = await post(PATHS[dialect], { ...asked(dialect), stream: true }, leaving.signal);
    await answer.body?.getReader().read();
    await held.reached;
    leaving.abort();
    await until(async () => (await spent()) > 100);
    held.open();
    expect((await post(PATHS[dialect], asked(dialect))).status).toBe(429);
  });
});

it('a stream of Chat Completions whose client does not ask for figures is counted', async () => {
  const { post, upstream } = await open('openai-chat', inDialect(textAnswer(ESSAY)));
  const body = { ...asked('openai-chat'), stream: true };
  const answer = await post('/v1/chat/completions', body);
  expect(await answer.text()).not.toContain('"usage"');
  expect((await post('/v1/chat/completions', body)).status).toBe(429);
  expect(upstream.requests).toHaveLength(1);
});

it('an answer that a Responses upstream would make in the background is made here, and counted', async () => {
  const { post, upstream, spent, gateway } = await open('openai-responses', inDialect(DEAR));
  const begun = await post('/v1/responses', { input: 'Write.', background: true });
  const { id } = (await begun.json()) as { id: string };
  await until(async () => (await spent()) > 0);
  const whole = await fetch(`${gateway.url}/v1/responses/${id}`, { headers: KEY });
  expect(await whole.json()).toMatchObject({ id, status: 'completed', background: true });
  expect(upstream.requests.map(({ json: sent }) => sent['background'])).toEqual([undefined]);
});

it('a compaction is counted, and not made once the budget is spent', async () => {
  const compacted = { id: 'cmp_1', object: 'response.compaction', created_at: 1, output: [] };
  const usage = { input_tokens: 70, output_tokens: 50, total_tokens: 120 };
  const { post, upstream } = await open('openai-responses', () => json({ ...compacted, usage }));
  const body = { input: 'Write.' };
  expect((await post('/v1/responses/compact', body)).status).toBe(200);
  expect((await post('/v1/responses/compact', body)).status).toBe(429);
  expect((await post('/v1/responses', body)).status).toBe(429);
  expect(upstream.requests).toHaveLength(1);
});

it('a message of a WebSocket is counted, and refused once the budget is spent', async () => {
  const { gateway, upstream } = await open('openai-chat', inDialect(DEAR));
  const socket = await openResponsesSocket(gateway.url, KEY);
  const lanes = ['a', 'b'] as const;
  const ends = [];
  for (const stream_id of lanes)
    ends.push((await socket.ask({ model: 'm', input: 'Write.', stream_id })).at(-1));
  expect(ends).toMatchObject([
    { type: 'response.completed' },
    { type: 'error', status: 429, stream_id: 'b' },
  ]);
  expect(upstream.requests).toHaveLength(1);
});
