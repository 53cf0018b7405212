import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Block, StopReason } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { encodeResponse } from './encode-response.js';

const ANSWER = { model: 'asked-for', requestId: 'req_1', created: 0 };
const USAGE = { inputTokens: 10, outputTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 40 };

function encode(content: Block[], fields: Partial<AssistantMessage> = {}) {
  const losses = new LossLog();
  const turn: AssistantMessage = {
    id: 'msg_1',
    model: 'upstream',
    content,
    stopReason: 'end_turn',
    usage: USAGE,
    ...fields,
  };
  return { body: encodeResponse(turn, ANSWER, losses), losses: losses.list() };
}

describe('a whole answer', () => {
  it('has every field that clients read', () => {
    expect(encode([{ type: 'text', text: 'hi' }]).body).toEqual({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'asked-for',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 40,
        cache_read_input_tokens: 30,
        output_tokens: 20,
      },
    });
  });

  it('says how much of the output was thinking', () => {
    const { body } = encode([], { usage: { ...USAGE, reasoningTokens: 5 } });
    expect(body['usage']).toMatchObject({ output_tokens_details: { thinking_tokens: 5 } });
  });

  it('without content has one empty text', () => {
    expect(encode([]).body['content']).toEqual([{ type: 'text', text: '' }]);
  });

  it.each<[StopReason, string]>([
    ['end_turn', 'end_turn'],
    ['max_tokens', 'max_tokens'],
    ['tool_use', 'tool_use'],
    ['pause_turn', 'pause_turn'],
    ['refusal', 'refusal'],
    ['context_window_exceeded', 'model_context_window_exceeded'],
  ])('%s is %s', (stopReason, wire) => {
    expect(encode([], { stopReason }).body['stop_reason']).toBe(wire);
  });

  it('names the stop sequence', () => {
    const { body } = encode([], { stopReason: 'stop_sequence', stopSequence: 'END' });
    expect(body).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
  });

  it('carries every block of this wire', () => {
    const value = { type: 'web_search_tool_result', content: [] };
    const { body, losses } = encode([
      { type: 'thinking', thinking: 't', signature: 's' },
      { type: 'thinking', thinking: 'unsigned' },
      { type: 'redacted_thinking', data: 'd' },
      {
        type: 'tool_use',
        id: 'functions.Bash:0',
        name: 'Bash',
        input: { b: 1, a: 2 },
        extensions: { 'anthropic-messages': { caller: { type: 'direct' } }, 'openai-chat': { x: 1 } },
      },
      { type: 'opaque', dialect: 'anthropic-messages', kind: value.type, value },
    ]);
    expect(body['content']).toEqual([
      { type: 'thinking', thinking: 't', signature: 's' },
      { type: 'thinking', thinking: 'unsigned', signature: '' },
      { type: 'redacted_thinking', data: 'd' },
      {
        type: 'tool_use',
        id: expect.stringMatching(/^functions_Bash_0_[0-9a-f]{8}$/),
        name: 'Bash',
        input: { b: 1, a: 2 },
        caller: { type: 'direct' },
      },
      value,
    ]);
    expect(losses).toEqual([]);
  });

  it('loses what this wire has no place for, by name', () => {
    const { body, losses } = encode([
      { type: 'text', text: 'a' },
      { type: 'opaque', dialect: 'openai-responses', kind: 'image_generation_call', value: {} },
      { type: 'image', source: { type: 'url', url: 'u' } },
    ]);
    expect(body['content']).toEqual([{ type: 'text', text: 'a' }]);
    expect(losses).toEqual([
      { path: 'content.1', reason: 'an answer on this wire has no image_generation_call (openai-responses)' },
      { path: 'content.2', reason: 'an answer on this wire has no image' },
    ]);
  });
});
