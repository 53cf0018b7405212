/**
 * `item_reference` on `/v1/responses`, as the Vercel AI SDK sends it from the second turn on: items of
 * answers that the gateway gave are known to it alone, those of a forwarded answer to its upstream.
 */
import type { ResponseInputItem } from 'openai/resources/responses/responses.js';
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { json, sse, startUpstream } from '../support/scripted-upstream.js';
import { openaiClient } from '../support/sdk.js';
import { chatStream, responsesObject, responsesStream, textAnswer } from '../support/wire.js';
import { repository, startAgent } from './native-agent-harness.js';

const ANSWER = { parts: [{ type: 'text' as const, text: ['It is ', 'blue.'] }] };
const SECOND = { parts: [{ type: 'text' as const, text: ['As I said.'] }] };
const asked = (text: string): ResponseInputItem => ({
  role: 'user',
  content: [{ type: 'input_text', text }],
});
const reference = (id: string): ResponseInputItem => ({ type: 'item_reference', id });

/** Upstreams by name, in the order of the fallback list. */
async function gatewayOn(upstreams: Record<string, object>, config: object = {}) {
  return startTestGateway({
    config: { upstreams, models: { m: { upstream: Object.keys(upstreams) } }, ...config },
  });
}

describe('an item that the gateway gave', () => {
  it.each([{ type: 'item_reference' as const }, {}])(
    'is put in its place for another wire (%o)',
    async (named) => {
      const chat = await startUpstream([sse(chatStream(ANSWER)), sse(chatStream(SECOND))]);
      const gateway = await gatewayOn({ chat: chat.config('openai-chat') });
      const openai = openaiClient(gateway.url);
      const first = await openai.responses.stream({ model: 'm', input: [asked('Colour?')] }).finalResponse();
      const id = first.output[0]?.id ?? '';
      const input = [asked('Colour?'), { ...named, id }, asked('Sure?')];
      const second = openai.responses.stream({ model: 'm', input });
      expect((await second.finalResponse()).output_text).toBe('As I said.');
      expect(chat.requests[1]?.json['messages']).toMatchObject([
        { role: 'user', content: 'Colour?' },
        { role: 'assistant', content: 'It is blue.' },
        { role: 'user', content: 'Sure?' },
      ]);
    },
  );

  it('is put in its place for the same wire, where another upstream of the list had answered', async () => {
    const chat = await startUpstream([sse(chatStream(ANSWER))]);
    const responses = await startUpstream([
      json({ error: { message: 'down' } }, { status: 503 }),
      json(responsesObject(SECOND)),
    ]);
    const gateway = await gatewayOn({
      responses: responses.config('openai-responses'),
      chat: chat.config('openai-chat'),
    });
    const openai = openaiClient(gateway.url);
    const first = await openai.responses.stream({ model: 'm', input: 'Colour?' }).finalResponse();
    expect(first.output_text).toBe('It is blue.');
    await chat.close();
    const input = [asked('Colour?'), reference(first.output[0]?.id ?? ''), asked('Sure?')];
    await openai.responses.create({ model: 'm', input });
    expect(responses.requests[1]?.json['input']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'It is blue.' }] },
      { role: 'user' },
    ]);
  });

  it('lets a session of an agent go on', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway } = await startAgent('openai-chat', repo.root, [textAnswer('Blue.'), textAnswer('Yes.')]);
    const openai = openaiClient(gateway.url);
    const first = await openai.responses.create({ model: 'coder', input: [asked('Colour?')] }).withResponse();
    const id = first.data.output[0]?.id ?? '';
    const second = await openai.responses
      .create({ model: 'coder', input: [asked('Colour?'), reference(id), asked('Sure?')] })
      .withResponse();
    expect(second.data.output_text).toBe('Yes.');
    const [before, after] = [first, second].map(({ response }) => response.headers);
    expect(after?.get('x-toolgate-attach')).toBe('continue');
    expect(after?.get('x-session-id')).toBe(before?.get('x-session-id'));
  });

  it('stays known in what goes on from its answer by id, and in the list of what led there', async () => {
    const chat = await startUpstream([ANSWER, SECOND, SECOND].map((answer) => sse(chatStream(answer))));
    const gateway = await gatewayOn({ chat: chat.config('openai-chat') });
    const openai = openaiClient(gateway.url);
    const first = await openai.responses.stream({ model: 'm', input: [asked('Colour?')] }).finalResponse();
    const input = [asked('Colour?'), reference(first.output[0]?.id ?? ''), asked('Sure?')];
    const second = await openai.responses.stream({ model: 'm', input }).finalResponse();
    const next = { model: 'm', input: 'Really?', previous_response_id: second.id };
    const third = await openai.responses.stream(next).finalResponse();
    expect(JSON.stringify(chat.requests[2]?.json['messages'])).toContain('It is blue.');
    const listed = await openai.responses.inputItems.list(third.id, { order: 'asc' });
    expect(JSON.stringify(listed.data)).toContain('It is blue.');
  });
});

describe('an item that nobody here knows', () => {
  const unknown = [asked('Colour?'), reference('msg_0123_0'), asked('Sure?')];

  it('is a 404 of a model on another wire and of an agent, and no model is asked', async () => {
    const repo = await repository({ a: 'a' });
    const agent = await startAgent('openai-chat', repo.root, [textAnswer('No.')]);
    const chat = await startUpstream([sse(chatStream(ANSWER))]);
    const plain = await gatewayOn({ chat: chat.config('openai-chat') });
    for (const [url, model] of [
      [agent.gateway.url, 'coder'],
      [plain.url, 'm'],
    ] as const) {
      await expect(openaiClient(url).responses.create({ model, input: unknown })).rejects.toMatchObject({
        status: 404,
        code: 'item_not_found',
        param: 'input.1',
        message: expect.stringContaining('msg_0123_0'),
      });
    }
    expect([...agent.upstream.requests, ...chat.requests]).toEqual([]);
  });

  it('is what an item of another key is', async () => {
    const chat = await startUpstream([sse(chatStream(ANSWER))]);
    const keys = ['alice', 'bob'].map((name) => ({ key: `secret-of-${name}`, name, scopes: ['call'] }));
    const gateway = await gatewayOn({ chat: chat.config('openai-chat') }, { server: { keys } });
    const alice = openaiClient(gateway.url, { apiKey: 'secret-of-alice' });
    const bob = openaiClient(gateway.url, { apiKey: 'secret-of-bob' });
    const first = await alice.responses.stream({ model: 'm', input: 'Colour?' }).finalResponse();
    const input = [reference(first.output[0]?.id ?? ''), asked('Sure?')];
    await expect(bob.responses.create({ model: 'm', input })).rejects.toMatchObject({ status: 404 });
    expect(chat.requests).toHaveLength(1);
  });

  it('is left for an upstream of the same wire, byte for byte, and never for another', async () => {
    const chat = await startUpstream([sse(chatStream(ANSWER))]);
    const responses = await startUpstream([
      sse(responsesStream(SECOND)),
      json({ error: { message: 'Item with id msg_0123_0 not found.', param: 'input' } }, { status: 404 }),
    ]);
    const gateway = await gatewayOn({
      chat: chat.config('openai-chat'),
      responses: responses.config('openai-responses'),
    });
    const openai = openaiClient(gateway.url);
    await openai.responses.stream({ model: 'm', input: unknown }).finalResponse();
    expect(responses.requests[0]?.json).toEqual({ model: 'm', input: unknown, stream: true });
    await expect(openai.responses.create({ model: 'm', input: unknown })).rejects.toMatchObject({
      status: 404,
    });
    expect(chat.requests).toEqual([]);
  });

  it.each([7, null, { of: 'msg_1' }, undefined])('and has no id (%o) is refused by its place', async (id) => {
    const gateway = await startTestGateway();
    const response = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', input: [asked('Colour?'), { type: 'item_reference', id }] }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'input.1.id' } });
  });

  it('twice in one request is refused, as at OpenAI', async () => {
    const gateway = await startTestGateway();
    const input = [reference('msg_0123_0'), reference('msg_0123_0')];
    const answer = openaiClient(gateway.url).responses.create({ model: 'demo', input });
    await expect(answer).rejects.toMatchObject({ status: 400, param: 'input' });
  });
});

describe('what a request goes on from', () => {
  it.each([
    [{ prompt: { id: 'pmpt_1' } }, 'prompt.id', 'prompt_not_found'],
    [{ conversation: 'conv_1' }, 'conversation', 'conversation_not_found'],
  ])('is reported by its own name: %o', async (body, param, code) => {
    const gateway = await startTestGateway();
    const answer = openaiClient(gateway.url).responses.create({ model: 'demo', input: 'q', ...body });
    await expect(answer).rejects.toMatchObject({ status: 404, param, code });
  });
});
