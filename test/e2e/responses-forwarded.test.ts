/** What an upstream of the client's own wire can do and no other: it is forwarded there, or refused. */
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import { type GatewayOptions, startTestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { json, type Script, sse, startUpstream } from '../support/scripted-upstream.js';
import { openaiClient } from '../support/sdk.js';
import { responsesObject, responsesStream, textAnswer } from '../support/wire.js';
import { repository, startAgent } from './native-agent-harness.js';

const ANSWER = { parts: [{ type: 'text' as const, text: ['It is ', 'blue.'] }] };
const KEYS = ['alice', 'bob'].map((name) => ({ key: `secret-of-${name}`, name, scopes: ['call'] }));

async function setUp(dialect: DialectName, script: Script, options: GatewayOptions = {}) {
  const upstream = await startUpstream(script);
  const config = {
    server: { keys: KEYS },
    upstreams: { theirs: upstream.config(dialect) },
    models: { m: { upstream: 'theirs', model: 'their-model' } },
  };
  const gateway = await startTestGateway({ config, ...options });
  const [alice, bob] = ['alice', 'bob'].map((name) =>
    openaiClient(gateway.url, { apiKey: `secret-of-${name}` }),
  );
  if (alice === undefined || bob === undefined) throw new Error('There are two keys');
  return { upstream, gateway, config, alice, bob };
}

const QUEUED = { ...responsesObject(ANSWER), id: 'resp_theirs', status: 'queued', output: [], usage: null };

describe('several answers at once', () => {
  const two = { id: 'x', object: 'chat.completion', created: 1, model: 'm' };
  const choice = (index: number, content: string) => ({
    index,
    message: { role: 'assistant', content },
    finish_reason: 'stop',
  });
  const request = { model: 'm', n: 2, messages: [{ role: 'user' as const, content: 'q' }] };

  it('come from an upstream of the same wire', async () => {
    const choices = [choice(0, 'a'), choice(1, 'b')];
    const { alice, upstream } = await setUp('openai-chat', [json({ ...two, choices })]);
    const answer = await alice.chat.completions.create(request);
    expect(answer.choices.map(({ message }) => message.content)).toEqual(['a', 'b']);
    expect(upstream.requests[0]?.json).toEqual({ ...request, model: 'their-model' });
  });

  it('are not taken for whole when the stream breaks behind the end of one of them', async () => {
    const chunk = (index: number, content: string, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ ...two, object: 'chat.completion.chunk', choices: [{ index, delta: { content }, finish_reason }] })}\n\n`;
    const broken = chunk(0, 'a') + chunk(1, 'b') + chunk(0, '', 'stop');
    const { alice } = await setUp('openai-chat', [sse(broken, { end: 'truncate' })]);
    const read = async () => {
      for await (const _ of await alice.chat.completions.create({ ...request, stream: true }));
    };
    await expect(read()).rejects.toThrow();
  });

  it('are refused on any other wire and by agents, and nobody is asked', async () => {
    const { alice, upstream } = await setUp('anthropic-messages', []);
    const refusal = { status: 400, param: 'n', message: expect.stringContaining('Send 2 requests') };
    await expect(alice.chat.completions.create(request)).rejects.toMatchObject(refusal);
    const repo = await repository({ a: 'a' });
    const agent = await startAgent('openai-chat', repo.root, [textAnswer('No.')]);
    const asked = openaiClient(agent.gateway.url).chat.completions.create({ ...request, model: 'coder' });
    await expect(asked).rejects.toMatchObject(refusal);
    expect([...upstream.requests, ...agent.upstream.requests]).toEqual([]);
  });
});

describe('an answer in the background', () => {
  it('is begun, asked for, cancelled, listed and deleted at its upstream, also after a restart', async () => {
    const done = { ...responsesObject(ANSWER), id: 'resp_theirs' };
    const items = { object: 'list', data: [], first_id: null, last_id: null, has_more: false };
    const { alice, upstream, gateway, config } = await setUp('openai-responses', [
      json(QUEUED),
      json({ ...QUEUED, status: 'cancelled' }),
      json(done),
      json(items),
      json({ id: 'resp_theirs', object: 'response', deleted: true }),
    ]);
    const begun = await alice.responses.create({ model: 'm', input: 'q', background: true });
    expect(begun).toMatchObject({ id: 'resp_theirs', status: 'queued' });
    expect((await alice.responses.cancel(begun.id)).status).toBe('cancelled');
    await gateway.close();
    const again = await startTestGateway({ config, folder: gateway.folder });
    const client = openaiClient(again.url, { apiKey: 'secret-of-alice' });
    const include = ['reasoning.encrypted_content' as const];
    expect((await client.responses.retrieve(begun.id, { include })).output_text).toBe('It is blue.');
    expect((await client.responses.inputItems.list(begun.id, { limit: 7 })).data).toEqual([]);
    await client.responses.delete(begun.id);
    await expect(client.responses.retrieve(begun.id)).rejects.toMatchObject({ status: 404 });
    expect(upstream.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/responses',
      'POST /v1/responses/resp_theirs/cancel',
      expect.stringMatching(/^GET \/v1\/responses\/resp_theirs\?include.*reasoning/),
      'GET /v1/responses/resp_theirs/input_items?limit=7',
      'DELETE /v1/responses/resp_theirs',
    ]);
  });

  it('streams its id before its first word, and is streamed again by that id', async () => {
    const stream = responsesStream(ANSWER);
    const { alice } = await setUp('openai-responses', [sse(stream), sse(stream)]);
    let id = '';
    const request = { model: 'm', input: 'q', background: true, stream: true as const };
    for await (const event of await alice.responses.create(request)) {
      if (event.type === 'response.created') id = event.response.id;
    }
    let text = '';
    for await (const event of await alice.responses.retrieve(id, { stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    expect(text).toBe('It is blue.');
  });
});

describe('a forwarded answer', () => {
  it('is shown, changed and deleted by the key that asked for it alone', async () => {
    const { alice, bob, upstream } = await setUp('openai-responses', [json(responsesObject(ANSWER))]);
    const { id } = await alice.responses.create({ model: 'm', input: 'q' });
    const missing = { status: 404, code: 'response_not_found' };
    await expect(bob.responses.retrieve(id)).rejects.toMatchObject(missing);
    await expect(bob.responses.delete(id)).rejects.toMatchObject(missing);
    await expect(bob.responses.cancel(id)).rejects.toMatchObject(missing);
    await expect(bob.responses.inputItems.list(id)).rejects.toMatchObject(missing);
    expect(upstream.requests).toHaveLength(1);
  });

  describe.each([
    ['sent whole', false],
    ['streamed', true],
  ])('that was %s', (_how, stream) => {
    const first = stream ? sse(responsesStream(ANSWER)) : json(responsesObject(ANSWER));
    const next = json({ ...responsesObject(ANSWER), id: 'resp_next' });

    /** One that alice's key asked for in the name of `who`, at a gateway that was started again since. */
    async function forwarded(who: object) {
      const { upstream, gateway, config, alice } = await setUp('openai-responses', [first, next]);
      const request = { model: 'm', input: 'q', ...who };
      const made = stream
        ? await alice.responses.stream(request).finalResponse()
        : await alice.responses.create(request);
      await gateway.close();
      const again = await startTestGateway({ config, folder: gateway.folder });
      const goOn = async (key: string, body: object, path = '') => {
        const response = await fetch(`${again.url}/v1/responses${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer secret-of-${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', input: 'And?', ...body }),
        });
        return { status: response.status, body: await response.json() };
      };
      return { upstream, goOn, previous: { previous_response_id: made.id }, id: made.id };
    }

    it('is gone on from by its key and its end user', async () => {
      const { upstream, goOn, previous } = await forwarded({ user: 'ann' });
      expect(await goOn('alice', { ...previous, safety_identifier: 'ann' })).toMatchObject({ status: 200 });
      expect(upstream.requests[1]?.json).toMatchObject(previous);
    });

    it('is not known to another key or another end user, on any route, and nobody is asked', async () => {
      const { upstream, goOn, previous, id } = await forwarded({ user: 'ann' });
      const strangers = [
        ['alice', { user: 'ben' }],
        ['alice', {}],
        ['bob', { user: 'ann' }],
        ['bob', {}],
      ] as const;
      for (const [key, who] of strangers) {
        for (const path of ['', '/input_tokens', '/compact']) {
          expect(await goOn(key, { ...previous, ...who }, path)).toMatchObject({
            status: 404,
            body: { error: { code: 'previous_response_not_found', param: 'previous_response_id' } },
          });
        }
        const item = { type: 'item_reference', id: id.replace('resp_', 'msg_').concat('_0') };
        expect(await goOn(key, { ...who, input: [item] })).toMatchObject({
          status: 404,
          body: { error: { code: 'item_not_found' } },
        });
      }
      expect(upstream.requests).toHaveLength(1);
    });
  });

  it('that was never seen here is left for its upstream', async () => {
    const { bob, upstream } = await setUp('openai-responses', [json(responsesObject(ANSWER))]);
    await bob.responses.create({ model: 'm', input: 'And?', previous_response_id: 'resp_elsewhere' });
    expect(upstream.requests[0]?.json).toMatchObject({ previous_response_id: 'resp_elsewhere' });
  });

  it('that was not to be stored is not known', async () => {
    const { alice, upstream } = await setUp('openai-responses', [json(responsesObject(ANSWER))]);
    const { id } = await alice.responses.create({ model: 'm', input: 'q', store: false });
    await expect(alice.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('input_tokens', () => {
  it('is the figure of an upstream of the same wire', async () => {
    const counted = { object: 'response.input_tokens', input_tokens: 4711 };
    const { alice, upstream } = await setUp('openai-responses', [json(counted)]);
    expect(await alice.responses.inputTokens.count({ model: 'm', input: 'q' })).toMatchObject(counted);
    expect(upstream.requests[0]).toMatchObject({
      path: '/v1/responses/input_tokens',
      json: { model: 'their-model', input: 'q' },
    });
  });

  it.each([
    ['another wire', 'openai-chat', []],
    [
      'an upstream that has no such route',
      'openai-responses',
      [json({ error: { message: 'no' } }, { status: 404 })],
    ],
  ] as const)('is counted by the gateway for %s', async (_what, dialect, script) => {
    const { alice } = await setUp(dialect, [...script]);
    const counted = await alice.responses.inputTokens.count({ model: 'm', input: 'How many are these?' });
    expect(counted).toMatchObject({ object: 'response.input_tokens', input_tokens: expect.any(Number) });
    expect(counted.input_tokens).toBeGreaterThan(3);
  });
});

describe('compact', () => {
  it('is forwarded to an upstream of the same wire', async () => {
    const compacted = { id: 'resp_c', object: 'response.compaction', created_at: 1, output: [], usage: null };
    const same = await setUp('openai-responses', [json(compacted)]);
    expect(await same.alice.responses.compact({ model: 'm', input: 'q' })).toMatchObject(compacted);
    expect(same.upstream.requests[0]?.path).toBe('/v1/responses/compact');
  });

  it.each([
    ['another wire', 'openai-chat', []],
    ['a third wire', 'anthropic-messages', []],
    [
      'an upstream that has no such route',
      'openai-responses',
      [json({ error: { message: 'no' } }, { status: 404 })],
    ],
  ] as const)(
    'is a summary of the model for %s, from which any model goes on',
    async (_what, dialect, script) => {
      const rest = [textAnswer('They like blue.'), textAnswer('Blue.')].map((each) => inDialect(each));
      const { alice, upstream } = await setUp(dialect, [...script, ...rest]);
      const input = [
        { role: 'user', content: 'I like blue.' },
        { role: 'assistant', content: 'Noted.' },
      ] as const;
      const compacted = await alice.responses.compact({ model: 'm', input: [...input] });
      expect(compacted).toMatchObject({
        object: 'response.compaction',
        output: [{ role: 'user' }, { type: 'compaction', encrypted_content: expect.any(String) }],
        usage: { input_tokens: expect.any(Number), total_tokens: expect.any(Number) },
      });
      const asked = upstream.requests.at(-1);
      expect(asked?.text).toContain('Noted.');
      const [, summary] = compacted.output;
      if (summary?.type !== 'compaction') throw new Error('no summary');
      const { id: _id, ...item } = summary;
      const next = await alice.responses.create({
        model: 'm',
        input: [item, { role: 'user', content: 'Which colour do I like?' }],
      });
      expect(next.output_text).toBe('Blue.');
      expect(upstream.requests.at(-1)?.text).toContain('They like blue.');
      expect(upstream.requests.at(-1)?.text).not.toContain('tg1.');
    },
  );

  it('is refused for what only another provider can read', async () => {
    const { alice, upstream } = await setUp('openai-chat', []);
    const sealed = { type: 'compaction', encrypted_content: 'theirs' } as const;
    await expect(alice.responses.compact({ model: 'm', input: [sealed] })).rejects.toMatchObject({
      status: 400,
    });
    expect(upstream.requests).toEqual([]);
  });
});
