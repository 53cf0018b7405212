import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Block, JsonObject } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { answerForm } from './answer-form.js';
import { decodeRequest } from './decode-request.js';
import { encodeResponse } from './encode-response.js';

const CONTEXT = { model: 'asked', requestId: 'req_1', created: 1700000000 };

function encode(content: Block[], fields: JsonObject = {}, more: Partial<AssistantMessage> = {}) {
  const losses = new LossLog();
  const turn: AssistantMessage = {
    id: 'resp_1',
    model: 'upstream-model',
    content,
    stopReason: 'end_turn',
    usage: { inputTokens: 5, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 1, reasoningTokens: 1 },
    ...more,
  };
  const form = answerForm(decodeRequest({ model: 'asked', input: 'q', ...fields }));
  return { body: encodeResponse(turn, { ...CONTEXT, form }, losses), losses: losses.list() };
}

const text = (value: string): Block => ({ type: 'text', text: value });

describe('the response', () => {
  it('is whole', () => {
    expect(encode([text('Hi')]).body).toEqual({
      id: 'resp_1',
      object: 'response',
      created_at: 1700000000,
      status: 'completed',
      model: 'asked',
      background: false,
      output: [
        {
          id: 'msg_1_0',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
        },
      ],
      error: null,
      incomplete_details: null,
      instructions: null,
      tools: [],
      metadata: {},
      truncation: 'disabled',
      max_output_tokens: null,
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      service_tier: 'default',
      store: true,
      temperature: null,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      top_p: null,
      user: null,
      usage: {
        input_tokens: 9,
        input_tokens_details: { cached_tokens: 3, cache_write_tokens: 1 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 11,
      },
    });
  });

  it('repeats what was asked, but for what is large', () => {
    const format = { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true };
    const { body } = encode([text('{}')], {
      instructions: 'long',
      tools: [{ type: 'function', name: 'a', parameters: {} }],
      tool_choice: { type: 'function', name: 'a' },
      max_output_tokens: 50,
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      reasoning: { effort: 'low', summary: 'auto' },
      service_tier: 'flex',
      store: false,
      temperature: 0.5,
      text: { format, verbosity: 'low' },
      top_p: 0.9,
      truncation: 'auto',
      user: 'u',
    });
    expect(body).toMatchObject({
      instructions: null,
      tools: [],
      tool_choice: { type: 'function', name: 'a' },
      max_output_tokens: 50,
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      reasoning: { effort: 'low', summary: 'auto' },
      service_tier: 'flex',
      store: false,
      temperature: 0.5,
      text: { format, verbosity: 'low' },
      top_p: 0.9,
      truncation: 'auto',
      user: 'u',
    });
  });

  it('has an id of this wire, whatever the answer is called', () => {
    expect(encode([text('Hi')], {}, { id: 'msg_7' }).body).toMatchObject({
      id: 'resp_msg_7',
      output: [{ id: 'msg_msg_7_0' }],
    });
  });
});

describe('items', () => {
  it('follow the order of the blocks', () => {
    const { body } = encode([
      { type: 'thinking', thinking: 'Hm' },
      text('I look.'),
      { type: 'tool_use', id: 'c1', name: 'Read', input: { a: 1 } },
      text(''),
    ]);
    expect(body['output']).toMatchObject([
      { id: 'rs_1_0', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
      { id: 'msg_1_1', type: 'message' },
      { id: 'fc_1_2', type: 'function_call', call_id: 'c1', name: 'Read', arguments: '{"a":1}' },
    ]);
  });

  it('of thinking are encrypted only for a client that wants them back', () => {
    const thinking: Block = { type: 'thinking', thinking: 'Hm', signature: 'c2ln' };
    const redacted: Block = { type: 'redacted_thinking', data: 'x' };
    const plain = encode([thinking, redacted]);
    expect(plain.body['output']).toEqual([
      { id: 'rs_1_0', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
    ]);
    expect(plain.losses).toMatchObject([{ path: 'content.1' }]);
    const wanted = encode([thinking, redacted], { include: ['reasoning.encrypted_content'] });
    const output = Array.isArray(wanted.body['output']) ? wanted.body['output'] : [];
    expect(wanted.losses).toEqual([]);
    const again = decodeRequest({ model: 'm', input: [...output, { role: 'user', content: 'go on' }] });
    expect(again.messages[0]?.content).toEqual([thinking, redacted]);
  });

  it('of other wires have no place and are named', () => {
    const { body, losses } = encode([
      { type: 'opaque', dialect: 'anthropic-messages', kind: 'server_tool_use', value: {} },
      {
        type: 'opaque',
        dialect: 'openai-responses',
        kind: 'web_search_call',
        value: { type: 'web_search_call' },
      },
    ]);
    expect(body['output']).toEqual([{ type: 'web_search_call', id: 'item_1_0' }]);
    expect(losses).toMatchObject([{ path: 'content.0' }]);
  });

  it('of calls are what the client offered', () => {
    const { body } = encode(
      [
        { type: 'tool_use', id: 'c1', name: 'patch', input: { input: 'text' } },
        { type: 'tool_use', id: 'c2', name: 'n__f', input: {} },
        { type: 'tool_use', id: 'c3', name: 'patch', input: { other: 1 } },
        { type: 'tool_use', id: 'c4', name: 'tool_search', input: { q: 1 } },
      ],
      {
        tools: [
          { type: 'custom', name: 'patch' },
          { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f', parameters: {} }] },
          { type: 'tool_search', execution: 'client' },
        ],
      },
    );
    expect(body['output']).toMatchObject([
      { type: 'custom_tool_call', id: 'ctc_1_0', call_id: 'c1', name: 'patch', input: 'text' },
      { type: 'function_call', id: 'fc_1_1', name: 'f', namespace: 'n', arguments: '{}' },
      { type: 'custom_tool_call', input: '{"other":1}' },
      { type: 'tool_search_call', id: 'tsc_1_3', call_id: 'c4', execution: 'client', arguments: { q: 1 } },
    ]);
  });
});
