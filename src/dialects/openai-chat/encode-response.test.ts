import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Block, StopReason } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import type { AnswerContext } from '../shared/dialect.js';
import { decodeRequest } from './decode-request.js';
import { encodeResponse } from './encode-response.js';

const CONTEXT: AnswerContext = { model: 'asked', requestId: 'req_1', created: 1700000000 };

function turn(content: Block[], fields: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    id: 'msg_1',
    model: 'upstream',
    content,
    stopReason: 'end_turn',
    usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 1, reasoningTokens: 2 },
    ...fields,
  };
}

function encode(content: Block[], fields: Partial<AssistantMessage> = {}, context = CONTEXT) {
  const losses = new LossLog();
  const body = encodeResponse(turn(content, fields), context, losses);
  const choice = Array.isArray(body['choices']) ? body['choices'][0] : undefined;
  return { body, choice, message: choice?.message, losses: losses.list().map(({ path }) => path) };
}

describe('encodeResponse', () => {
  it('has the shape of a chat completion', () => {
    expect(encode([{ type: 'text', text: 'Hi' }]).body).toEqual({
      id: 'chatcmpl-msg_1',
      object: 'chat.completion',
      created: 1700000000,
      model: 'asked',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 15,
        completion_tokens: 5,
        total_tokens: 20,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    });
  });

  it('keeps an id of this wire', () => {
    expect(encode([], { id: 'chatcmpl-9' }).body['id']).toBe('chatcmpl-9');
    expect(encode([], { id: '' }).body['id']).toBe('chatcmpl-req_1');
  });

  it('calls without text have null content', () => {
    const { message, choice } = encode(
      [
        { type: 'tool_use', id: 'a', name: 'f', input: { z: 1, a: 2 } },
        { type: 'tool_use', id: '', name: 'g', input: {} },
      ],
      { stopReason: 'tool_use' },
    );
    expect(choice.finish_reason).toBe('tool_calls');
    expect(message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"z":1,"a":2}' } },
        { id: 'call_req_1_1', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    });
  });

  it('an empty answer has empty content, text in several blocks is one', () => {
    expect(encode([]).message.content).toBe('');
    expect(
      encode([
        { type: 'text', text: 'a' },
        { type: 'thinking', thinking: 't' },
        { type: 'text', text: 'b' },
      ]).message,
    ).toEqual({
      role: 'assistant',
      content: 'ab',
      refusal: null,
      reasoning_content: 't',
    });
  });

  it.each<[StopReason, string]>([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'tool_calls'],
    ['max_tokens', 'length'],
    ['pause_turn', 'length'],
    ['context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
  ])('%s is %s', (stopReason, word) => {
    expect(encode([{ type: 'text', text: 'x' }], { stopReason }).choice.finish_reason).toBe(word);
  });

  it('says which stop sequence was met', () => {
    expect(encode([], { stopReason: 'stop_sequence', stopSequence: 'END' }).choice.stop_reason).toBe('END');
  });

  it('a refusal without words has some', () => {
    expect(encode([], { stopReason: 'refusal' }).message).toMatchObject({
      content: null,
      refusal: 'The model declined to answer.',
    });
    expect(encode([{ type: 'text', text: 'No.' }], { stopReason: 'refusal' }).message).toMatchObject({
      content: 'No.',
      refusal: null,
    });
  });

  it('carries proof of thinking so that a client that echoes it restores it', () => {
    const content: Block[] = [
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'cmVk' },
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
    ];
    const { message } = encode(content);
    const { messages } = decodeRequest({ model: 'm', messages: [message] });
    expect(messages[0]?.content).toEqual(content);
  });

  it('puts back what only this wire has, and loses what only another has', () => {
    const { message, choice, losses } = encode([
      { type: 'text', text: 'a' },
      { type: 'opaque', dialect: 'openai-chat', kind: 'annotations', value: { annotations: [1] } },
      { type: 'opaque', dialect: 'openai-chat', kind: 'logprobs', value: { logprobs: { content: [] } } },
      { type: 'opaque', dialect: 'anthropic-messages', kind: 'server_tool_use', value: {} },
    ]);
    expect(message.annotations).toEqual([1]);
    expect(choice.logprobs).toEqual({ content: [] });
    expect(losses).toEqual(['content.3']);
  });

  it("keeps Gemini's signature on its call", () => {
    const extensions = { 'openai-chat': { extra_content: { google: { thought_signature: 's' } } } };
    const { message } = encode([{ type: 'tool_use', id: 'a', name: 'f', input: {}, extensions }]);
    expect(message.tool_calls[0].extra_content).toEqual({ google: { thought_signature: 's' } });
  });

  it('answers calls of custom tools with free text', () => {
    const context = { ...CONTEXT, form: { legacy: false, custom: ['patch'] } };
    const { message } = encode(
      [{ type: 'tool_use', id: 'a', name: 'patch', input: { input: '***' } }],
      {},
      context,
    );
    expect(message.tool_calls).toEqual([
      { id: 'a', type: 'custom', custom: { name: 'patch', input: '***' } },
    ]);
    const odd = encode([{ type: 'tool_use', id: 'a', name: 'patch', input: { other: 1 } }], {}, context);
    expect(odd.message.tool_calls[0].custom.input).toBe('{"other":1}');
  });

  it('answers a client of the first form with one function_call', () => {
    const context = { ...CONTEXT, form: { legacy: true, custom: [] } };
    const use = (id: string): Block => ({ type: 'tool_use', id, name: id, input: {} });
    const { message, choice, losses } = encode([use('f'), use('g')], { stopReason: 'tool_use' }, context);
    expect(message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      function_call: { name: 'f', arguments: '{}' },
    });
    expect(choice.finish_reason).toBe('function_call');
    expect(losses).toEqual(['content']);
  });
});
