/** `/v1/responses` on upstreams of every wire: what is translated, what is forwarded, what is kept. */
import type OpenAI from 'openai';
import { NotFoundError } from 'openai';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import {
  json,
  type Script,
  type ScriptedUpstream,
  sse,
  startUpstream,
} from '../support/scripted-upstream.js';
import { openaiClient } from '../support/sdk.js';
import {
  anthropicMessage,
  anthropicStream,
  chatStream,
  responsesObject,
  responsesStream,
  type Scripted,
} from '../support/wire.js';

interface Setup {
  upstream: ScriptedUpstream;
  gateway: TestGateway;
  openai: OpenAI;
}

async function setUp(dialect: DialectName, script: Script, more: object = {}): Promise<Setup> {
  const upstream = await startUpstream(script);
  const gateway = await startTestGateway({
    config: {
      upstreams: { scripted: { ...upstream.config(dialect), ...more } },
      models: { '*': { upstream: 'scripted', model: 'theirs' } },
    },
  });
  return { upstream, gateway, openai: openaiClient(gateway.url) };
}

const THOUGHT: Scripted = {
  parts: [
    { type: 'thinking', text: ['I ', 'think'], signature: 'c2lnbmF0dXJl' },
    { type: 'text', text: ['So ', 'be it.'] },
    { type: 'call', id: 'toolu_1', name: 'look', arguments: ['{"at":', '"it"}'] },
  ],
};
const DONE: Scripted = { parts: [{ type: 'text', text: ['All ', 'done'] }] };
const TOOLS: OpenAI.Responses.Tool[] = [
  { type: 'function', name: 'look', strict: false, parameters: { type: 'object', properties: {} } },
];
const LOOKED = { type: 'function_call_output', call_id: 'toolu_1', output: 'seen' } as const;

describe('an Anthropic upstream', () => {
  const script = (): Script => [sse(anthropicStream(THOUGHT)), sse(anthropicStream(DONE))];

  it.each(['by its id, from the gateway', 'by its items, from the client'])(
    'gets its thinking back with the proof: %s',
    async (how) => {
      const { openai, upstream } = await setUp('anthropic-messages', script());
      const byId = how.startsWith('by its id');
      const include: OpenAI.Responses.ResponseIncludable[] = byId ? [] : ['reasoning.encrypted_content'];
      const request = { model: 'm', tools: TOOLS, include, reasoning: { effort: 'high' as const } };
      const first = await openai.responses.stream({ ...request, input: 'q' }).finalResponse();
      expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call']);
      // Codex keeps neither the id nor the text of reasoning.
      const echoed = first.output.flatMap((item): OpenAI.Responses.ResponseInputItem[] => {
        if (item.type === 'function_call' || item.type === 'message') return [item];
        return item.type === 'reasoning' ? [{ ...item, summary: [] }] : [];
      });
      const second = byId
        ? { ...request, previous_response_id: first.id, input: [LOOKED] }
        : { ...request, input: [{ role: 'user' as const, content: 'q' }, ...echoed, LOOKED] };
      const last = await openai.responses.stream(second).finalResponse();
      expect(last.output_text).toBe('All done');
      expect(upstream.requests[1]?.json['messages']).toMatchObject([
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'I think', signature: 'c2lnbmF0dXJl' },
            { type: 'text', text: 'So be it.' },
            { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
      ]);
    },
  );

  it('answers whole what was asked whole', async () => {
    const { openai } = await setUp('anthropic-messages', [json(anthropicMessage(THOUGHT))]);
    const { output, usage } = await openai.responses.create({ model: 'm', input: 'q', tools: TOOLS });
    expect(output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'I think' }] },
      { type: 'message', content: [{ text: 'So be it.' }] },
      { type: 'function_call', call_id: 'toolu_1', name: 'look', arguments: '{"at":"it"}' },
    ]);
    expect(usage?.total_tokens).toBe(30);
  });
});

describe('a chat upstream', () => {
  it('gets the whole conversation for an id', async () => {
    const { openai, upstream } = await setUp('openai-chat', [
      sse(chatStream(THOUGHT)),
      sse(chatStream(DONE)),
    ]);
    const first = await openai.responses.stream({ model: 'm', tools: TOOLS, input: 'q' }).finalResponse();
    const next = { model: 'm', tools: TOOLS, previous_response_id: first.id, input: [LOOKED] };
    await openai.responses.stream(next).finalResponse();
    expect(upstream.requests[1]?.json['messages']).toMatchObject([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'So be it.', tool_calls: [{ id: 'toolu_1' }] },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'seen' },
    ]);
  });

  it('is not asked to go on from an answer that nobody kept', async () => {
    const { openai, upstream } = await setUp('openai-chat', []);
    await expect(
      openai.responses.create({ model: 'm', input: 'q', previous_response_id: 'resp_gone' }),
    ).rejects.toThrow(NotFoundError);
    expect(upstream.requests).toEqual([]);
  });

  it('that breaks off is an error of the official client and leaves nothing to go on from', async () => {
    const broken = chatStream(DONE).slice(0, -200);
    const { openai } = await setUp('openai-chat', [sse(broken, { end: 'truncate' })]);
    let id = '';
    const stream = openai.responses.stream({ model: 'm', input: 'q' });
    stream.on('response.created', ({ response }) => {
      id = response.id;
    });
    await expect(stream.finalResponse()).rejects.toThrow('before its answer was complete');
    await expect(openai.responses.retrieve(id)).rejects.toThrow(NotFoundError);
  });
});

describe('an upstream of the same wire', () => {
  it('is forwarded to, and keeps what it answered itself', async () => {
    const { openai, upstream } = await setUp('openai-responses', [
      json(responsesObject(DONE)),
      sse(responsesStream(DONE)),
    ]);
    const first = await openai.responses.create({
      model: 'm',
      input: 'q',
      previous_response_id: 'resp_theirs',
    });
    expect(first.id).toBe('resp_scripted');
    expect(upstream.requests[0]?.json).toEqual({
      model: 'theirs',
      input: 'q',
      previous_response_id: 'resp_theirs',
    });
    const streamed = await openai.responses.stream({ model: 'm', input: 'q' }).finalResponse();
    expect(streamed.output_text).toBe('All done');
  });

  it('is told the whole where the gateway began the conversation', async () => {
    // With a quirk of its own nothing is forwarded as it came.
    const { openai, upstream } = await setUp(
      'openai-responses',
      [sse(responsesStream(THOUGHT)), sse(responsesStream(DONE))],
      { quirks: { cacheKey: false } },
    );
    const request = { model: 'm', tools: TOOLS, reasoning: { effort: 'high' as const } };
    const first = await openai.responses.stream({ ...request, input: 'q' }).finalResponse();
    const next = { ...request, previous_response_id: first.id, input: [LOOKED] };
    const second = await openai.responses.stream(next).finalResponse();
    expect(second.previous_response_id).toBe(first.id);
    const [asked, again] = upstream.requests.map((each) => each.json);
    expect(asked).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
    expect(again).not.toHaveProperty('previous_response_id');
    expect(again?.['input']).toMatchObject([
      { type: 'message', role: 'user' },
      { type: 'reasoning', id: 'rs_0', encrypted_content: 'c2lnbmF0dXJl' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'So be it.' }] },
      { type: 'function_call', call_id: 'toolu_1', name: 'look', arguments: '{"at":"it"}' },
      { type: 'function_call_output', call_id: 'toolu_1', output: 'seen' },
    ]);
  });

  it('is told the whole where another model began it, though it could be forwarded to', async () => {
    const upstream = await startUpstream([json(responsesObject(DONE))]);
    const gateway = await startTestGateway({
      config: {
        upstreams: { scripted: upstream.config('openai-responses') },
        models: { m: { upstream: 'scripted' }, demo: { upstream: 'demo' } },
      },
    });
    const openai = openaiClient(gateway.url);
    const first = await openai.responses.create({ model: 'demo', input: 'Say hello' });
    await openai.responses.create({ model: 'm', input: 'And?', previous_response_id: first.id });
    expect(upstream.requests[0]?.json['input']).toMatchObject([
      { role: 'user', content: [{ text: 'Say hello' }] },
      { role: 'assistant', content: [{ text: first.output_text }] },
      { role: 'user', content: [{ text: 'And?' }] },
    ]);
    expect(upstream.requests[0]?.json).not.toHaveProperty('previous_response_id');
  });
});
