/** `/v1/responses` over a WebSocket: the same answers as over HTTP, and what only a connection can do. */
import type { ResponsesServerEvent } from 'openai/resources/responses/responses.js';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import { closeAfterTest } from '../support/cleanup.js';
import { type GatewayOptions, startTestGateway } from '../support/gateway.js';
import { openResponsesSocket, responseIn, textOf } from '../support/responses-socket.js';
import { inDialect } from '../support/scripted-answers.js';
import {
  gate,
  json,
  type RecordedRequest,
  type Script,
  sse,
  startUpstream,
} from '../support/scripted-upstream.js';
import { openaiClient } from '../support/sdk.js';
import { parseSse, validateResponsesStream } from '../support/sse.js';
import { until } from '../support/until.js';
import { isRecord } from '../support/violation.js';
import { call, callsAnswer, responsesStream, type Scripted, textAnswer } from '../support/wire.js';
import { repository, startAgent } from './native-agent-harness.js';

const DIALECTS: readonly DialectName[] = ['openai-chat', 'openai-responses', 'anthropic-messages'];
const KEYS = ['alice', 'bob'].map((name) => ({ key: `secret-of-${name}`, name, scopes: ['call'] }));
const asKey = (name: string) => ({ authorization: `Bearer secret-of-${name}` });

async function open(
  dialect: DialectName,
  script: Script,
  options: GatewayOptions & { keys?: object[] } = {},
) {
  const { keys, ...rest } = options;
  const upstream = await startUpstream(script);
  const config = {
    ...(keys === undefined ? {} : { server: { keys } }),
    upstreams: { theirs: upstream.config(dialect) },
    models: { m: { upstream: 'theirs', model: 'their-model' } },
  };
  const gateway = await startTestGateway({ config, ...rest });
  return { gateway, upstream };
}

/** What was said, whoever's wire it is. */
const said = (request: RecordedRequest | undefined): string => request?.text ?? '';

const user = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const THINKING: Scripted = {
  parts: [
    { type: 'thinking', text: ['Hm. '], signature: 'c2VhbA==' },
    { type: 'text', text: ['First.'] },
  ],
};

describe.each(DIALECTS)('a turn on %s', (dialect) => {
  it('has the events of a stream over HTTP, one a message', async () => {
    const answers = [1, 2].map(() => inDialect(textAnswer('It is blue.')));
    const { gateway } = await open(dialect, answers);
    const body = { model: 'm', input: 'q', store: false };
    const posted = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
    });
    const http = parseSse(await posted.text());
    const socket = await openResponsesSocket(gateway.url);
    const events = await socket.ask(body);
    const stream = events.map(
      (event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`,
    );
    expect(validateResponsesStream(parseSse(stream.join(''))).output).toHaveLength(1);
    expect(events.map(({ type }) => type)).toEqual(http.map(({ event }) => event));
    expect(textOf(events)).toBe('It is blue.');
    expect(events.some((event) => 'stream_id' in event)).toBe(false);
    expect(events[0]?.['headers']).toMatchObject({
      'x-request-id': expect.stringMatching(/^req_/),
      'x-toolgate-upstream': 'theirs',
    });
  });

  it('goes on from an answer that is stored nowhere, with only what is new', async () => {
    const { gateway, upstream } = await open(dialect, [
      inDialect(THINKING),
      inDialect(callsAnswer(call('look', { at: 'it' }, 'call_1'))),
      inDialect(textAnswer('Third.')),
    ]);
    const socket = await openResponsesSocket(gateway.url);
    const request = {
      model: 'm',
      store: false,
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: false }],
      include: ['reasoning.encrypted_content'],
    };
    const first = responseIn(await socket.ask({ ...request, input: [user('One?')] }));
    const second = responseIn(
      await socket.ask({ ...request, previous_response_id: first.id, input: [user('Two?')] }),
    );
    expect(dialect === 'openai-responses' || second['previous_response_id'] === first.id).toBe(true);
    const output = [{ type: 'function_call_output', call_id: 'call_1', output: 'seen' }];
    const events = await socket.ask({ ...request, previous_response_id: second.id, input: output });
    expect(textOf(events)).toBe('Third.');
    const last = said(upstream.requests[2]);
    for (const part of ['One?', 'First.', 'Two?', 'call_1', 'seen']) expect(last).toContain(part);
    if (dialect !== 'openai-chat') expect(last).toContain('c2VhbA==');
  });

  it('goes on from a stored answer, on another connection and over HTTP', async () => {
    const { gateway, upstream } = await open(
      dialect,
      ['First.', 'Second.', 'Third.'].map((text) => inDialect(textAnswer(text))),
    );
    const before = await openResponsesSocket(gateway.url);
    const first = responseIn(await before.ask({ model: 'm', input: 'One?' }));
    before.webSocket.close();
    await before.closed;
    const socket = await openResponsesSocket(gateway.url);
    const second = responseIn(
      await socket.ask({ model: 'm', input: 'Two?', previous_response_id: first.id }),
    );
    const client = openaiClient(gateway.url);
    const third = await client.responses.create({
      model: 'm',
      input: 'Three?',
      previous_response_id: second.id,
    });
    expect(third.output_text).toBe('Third.');
    if (dialect === 'openai-responses') {
      expect(upstream.requests[2]?.json).toMatchObject({ previous_response_id: second.id });
    } else {
      expect((await client.responses.retrieve(first.id)).output_text).toBe('First.');
      for (const part of ['One?', 'First.', 'Two?', 'Second.'])
        expect(said(upstream.requests[2])).toContain(part);
    }
  });
});

describe('a forwarded turn', () => {
  it('reaches its upstream as the POST would that carries the whole conversation', async () => {
    const { gateway, upstream } = await open('openai-responses', [
      sse(responsesStream(THINKING)),
      inDialect(textAnswer('Second.')),
    ]);
    const socket = await openResponsesSocket(gateway.url);
    const exact = {
      metadata: { a: 'b' },
      reasoning: { effort: 'low', context: 'own' },
      prompt_cache_key: 'k',
    };
    const request = { model: 'm', store: false, ...exact };
    const first = responseIn(await socket.ask({ ...request, input: [user('One?')] }));
    await socket.ask({ ...request, previous_response_id: first.id, input: [user('Two?')] });
    expect(upstream.requests[0]?.json).toEqual({
      ...request,
      model: 'their-model',
      stream: true,
      input: [user('One?')],
    });
    const output = (Array.isArray(first['output']) ? first['output'] : []).filter(
      // What its upstream cannot read without having stored it.
      (item) => !isRecord(item) || item['type'] !== 'reasoning' || 'encrypted_content' in item,
    );
    expect(upstream.requests[1]?.json).toEqual({
      ...request,
      model: 'their-model',
      stream: true,
      input: [user('One?'), ...output, user('Two?')],
    });
  });
});

describe('a forwarded turn whose socket drops', () => {
  it('is read to its end, so that its upstream has the whole of it', async () => {
    const held = gate();
    const whole = responsesStream(textAnswer('It is blue.'));
    const at = whole.indexOf('event: response.output_text.done');
    const stream = sse([whole.slice(0, at), held, whole.slice(at)]);
    const kept = json({ id: 'theirs', object: 'response', status: 'completed' });
    const { gateway, upstream } = await open('openai-responses', ({ method }) =>
      method === 'GET' ? kept : stream,
    );
    const socket = await openResponsesSocket(gateway.url);
    socket.create({ model: 'm', input: 'q' });
    const { response } = await socket.next();
    const id = isRecord(response) ? String(response['id']) : '';
    await held.reached;
    socket.webSocket.terminate();
    const get = async () => JSON.parse(await (await fetch(`${gateway.url}/v1/responses/${id}`)).text());
    await until(async () => (await get()).status === 'in_progress');
    held.open();
    expect(await upstream.requests[0]?.outcome).toBe('answered');
    await until(async () => (await get()).id === 'theirs');
  });
});

describe('a warm-up', () => {
  it('asks nobody, and is what the next request goes on from', async () => {
    const { gateway, upstream } = await open('openai-chat', [inDialect(textAnswer('Yes.'))]);
    const socket = await openResponsesSocket(gateway.url);
    const warm = await socket.ask({ model: 'm', store: false, generate: false, input: [user('Warm?')] });
    expect(warm.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ]);
    expect(responseIn(warm)).toMatchObject({ output: [], status: 'completed' });
    expect(upstream.requests).toEqual([]);
    const { id } = responseIn(warm);
    expect(textOf(await socket.ask({ model: 'm', store: false, previous_response_id: id, input: [] }))).toBe(
      'Yes.',
    );
    expect(said(upstream.requests[0])).toContain('Warm?');
  });

  it('that would be refused is refused', async () => {
    const { gateway } = await open('openai-chat', []);
    const socket = await openResponsesSocket(gateway.url);
    expect(await socket.ask({ generate: false, input: 'q' })).toMatchObject([
      { type: 'error', status: 400, error: { param: 'model' } },
    ]);
  });
});

describe('lanes', () => {
  it('run beside each other, each in its own order, and their events say whose they are', async () => {
    const held = gate();
    const slow = sse([held, responsesStream({ ...textAnswer('slow'), id: 'slow' })]);
    const { gateway, upstream } = await open('openai-responses', ({ json: { input } }) => {
      if (input === 'slow') return slow;
      return sse(responsesStream({ ...textAnswer(String(input)), id: String(input) }));
    });
    const socket = await openResponsesSocket(gateway.url);
    socket.create({ model: 'm', stream_id: 'a', input: 'slow' });
    socket.create({ model: 'm', stream_id: 'a', input: 'behind' });
    socket.create({ model: 'm', input: 'unnamed' });
    socket.create({ model: 'm', stream_id: 'b.2_-', input: 'beside' });
    const two = [await socket.answer(), await socket.answer()];
    expect(two.map(textOf).sort().join()).not.toContain('behind');
    expect(upstream.requests.map(({ json: { input } }) => input).sort()).toEqual([
      'beside',
      'slow',
      'unnamed',
    ]);
    held.open();
    const rest = [await socket.answer(), await socket.answer()];
    expect(rest.map(textOf)).toEqual(['slow', 'behind']);
    const words = socket.messages.filter(({ type }) => type === 'response.completed');
    const lanes = words.map(({ stream_id: lane, response }) => [
      lane,
      textOf(socket.messages.filter(({ stream_id: of }) => of === lane)),
      isRecord(response),
    ]);
    expect(lanes).toEqual(
      expect.arrayContaining([
        [undefined, 'unnamed', true],
        ['b.2_-', 'beside', true],
        ['a', 'slowbehind', true],
      ]),
    );
  });

  it('fork a conversation from each other', async () => {
    const { gateway, upstream } = await open('openai-chat', (request, index) =>
      inDialect(textAnswer(`Answer ${index}.`))(request, index),
    );
    const socket = await openResponsesSocket(gateway.url);
    const ask = (lane: string, text: string, previous?: string) =>
      socket.ask({
        model: 'm',
        store: false,
        stream_id: lane,
        input: text,
        ...(previous === undefined ? {} : { previous_response_id: previous }),
      });
    const root = responseIn(await ask('main', 'Root?'));
    const fork = await ask('critic', 'Gaps?', root.id);
    const main = await ask('main', 'More?', root.id);
    expect(fork.at(-1)).toMatchObject({ stream_id: 'critic' });
    expect(said(upstream.requests[2])).not.toContain('Gaps?');
    // Of each lane the last answer is known: the root is gone with the next one on its lane.
    expect((await ask('critic', 'Again?', root.id)).at(-1)).toMatchObject({
      type: 'error',
      status: 400,
      stream_id: 'critic',
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
    expect(textOf(await ask('critic', 'And?', responseIn(main).id))).toBe('Answer 3.');
  });

  it('have names of a form, and there are 32 of them', async () => {
    const { gateway } = await open('openai-chat', inDialect(textAnswer('Yes.')));
    const socket = await openResponsesSocket(gateway.url);
    for (const wrong of ['', 'a b', 'ä', 7, 'x'.repeat(257)]) {
      expect(await socket.ask({ model: 'm', stream_id: wrong, input: 'q' })).toMatchObject([
        { type: 'error', status: 400, error: { code: 'invalid_stream_id', param: 'stream_id' } },
      ]);
    }
    for (let lane = 0; lane < 32; lane++)
      socket.create({ model: 'm', stream_id: `lane-${lane}`, input: 'q' });
    for (let lane = 0; lane < 32; lane++) await socket.answer();
    expect(socket.messages.filter(({ type }) => type === 'response.completed')).toHaveLength(32);
    expect(await socket.ask({ model: 'm', stream_id: 'one-more', input: 'q' })).toMatchObject([
      { type: 'error', stream_id: 'one-more', error: { code: 'websocket_stream_limit_reached' } },
    ]);
    expect(textOf(await socket.ask({ model: 'm', stream_id: 'lane-7', input: 'q' }))).toBe('Yes.');
    expect(textOf(await socket.ask({ model: 'm', input: 'q' }))).toBe('Yes.');
  });
});

describe('an agent', () => {
  it('hands calls back and goes on in its session, over one connection', async () => {
    const repo = await repository({ 'notes.txt': 'the answer is 42' });
    const { gateway, upstream } = await startAgent('openai-chat', repo.root, [
      callsAnswer(
        call('Read', { file_path: repo.path('notes.txt') }, 'call_read'),
        call('ask', { of: 'me' }, 'call_ask'),
      ),
      textAnswer('It is 42.'),
    ]);
    const socket = await openResponsesSocket(gateway.url);
    const tools = [{ type: 'function', name: 'ask', parameters: { type: 'object' }, strict: false }];
    const first = await socket.ask({ model: 'coder', store: false, tools, input: 'What is it?' });
    const { id, output } = responseIn(first);
    expect(output).toMatchObject([{ type: 'function_call', name: 'ask', call_id: 'call_ask' }]);
    const result = { type: 'function_call_output', call_id: 'call_ask', output: 'sure' };
    const second = await socket.ask({
      model: 'coder',
      store: false,
      tools,
      previous_response_id: id,
      input: [result],
    });
    expect(textOf(second)).toBe('It is 42.');
    expect(said(upstream.requests[1])).toContain('the answer is 42');
    const session = (events: typeof first) => Object(events[0]?.['headers'])['x-session-id'];
    expect(session(second)).toBe(session(first));
    expect(session(first)).toEqual(expect.any(String));
  });
});

describe('two keys', () => {
  it('see nothing of each other: neither what is stored nor what a connection knows', async () => {
    const script = (request: RecordedRequest, index: number) =>
      inDialect(textAnswer(`Secret ${index}.`))(request, index);
    const { gateway, upstream } = await open('openai-chat', script, { keys: KEYS });
    const alice = await openResponsesSocket(gateway.url, asKey('alice'));
    const bob = await openResponsesSocket(gateway.url, asKey('bob'));
    const stored = responseIn(await alice.ask({ model: 'm', input: 'q' }));
    const local = responseIn(await alice.ask({ model: 'm', store: false, input: 'q' }));
    for (const { id } of [stored, local]) {
      expect(await bob.ask({ model: 'm', previous_response_id: id, input: 'And?' })).toMatchObject([
        { type: 'error', status: 400, error: { code: 'previous_response_not_found' } },
      ]);
    }
    // Of one key, another end user and another connection are strangers to it as well.
    const strangers = [alice, await openResponsesSocket(gateway.url, asKey('alice'))] as const;
    for (const [stranger, who] of [
      [strangers[0], { user: 'ben' }],
      [strangers[1], {}],
    ] as const) {
      const asked = { model: 'm', store: false, previous_response_id: local.id, input: 'And?', ...who };
      expect(await stranger.ask(asked)).toMatchObject([
        { type: 'error', error: { code: 'previous_response_not_found' } },
      ]);
    }
    expect(upstream.requests).toHaveLength(2);
    expect(
      textOf(await alice.ask({ model: 'm', store: false, previous_response_id: local.id, input: 'And?' })),
    ).toBe('Secret 2.');
  });
});

describe('the official client', () => {
  it('holds a conversation', async () => {
    const { gateway } = await open(
      'anthropic-messages',
      ['First.', 'Second.'].map((text) => inDialect(textAnswer(text))),
    );
    const socket = new ResponsesWS(openaiClient(gateway.url));
    closeAfterTest(() => socket.close());
    const events = socket.stream()[Symbol.asyncIterator]();
    const answer = async (): Promise<ResponsesServerEvent & { type: 'response.completed' }> => {
      for (;;) {
        const { value } = await events.next();
        if (value?.type === 'error') throw value.error;
        if (value?.type === 'message' && value.message.type === 'response.completed') return value.message;
      }
    };
    socket.send({ type: 'response.create', model: 'm', store: false, input: 'One?' });
    const first = await answer();
    expect(first.response.output[0]).toMatchObject({ content: [{ text: 'First.' }] });
    socket.send({
      type: 'response.create',
      model: 'm',
      store: false,
      previous_response_id: first.response.id,
      input: 'Two?',
    });
    expect((await answer()).response.output[0]).toMatchObject({ content: [{ text: 'Second.' }] });
    socket.send({ type: 'response.create', model: 'unknown', input: 'q' });
    await expect(answer()).rejects.toThrow(/unknown/);
  });
});
