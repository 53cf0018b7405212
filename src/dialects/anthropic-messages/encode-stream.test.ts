import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { AnswerCollector } from '../../core/answer-collector.js';
import { GatewayError } from '../../core/errors.js';
import type { AnswerEvent, ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { LossLog } from '../../core/losses.js';
import { encodeResponse } from './encode-response.js';
import { createStreamEncoder } from './encode-stream.js';

const ANSWER = { model: 'asked-for', requestId: 'req_1', created: 0 };
const USAGE = { inputTokens: 10, outputTokens: 0, cacheReadTokens: 30, cacheWriteTokens: 40 };

const encode = (...events: AnswerEvent[]): string => createStreamEncoder(ANSWER).encode(events);

describe('events on the wire', () => {
  it.each<[string, AnswerEvent, string]>([
    [
      'message_start',
      { type: 'message-start', id: 'msg_1', model: 'upstream', usage: USAGE },
      'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"asked-for","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":40,"cache_read_input_tokens":30,"output_tokens":0}}}\n\n',
    ],
    [
      'text',
      { type: 'block-start', index: 0, block: { type: 'text' } },
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    ],
    [
      'thinking',
      { type: 'block-start', index: 0, block: { type: 'thinking' } },
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}\n\n',
    ],
    [
      'redacted thinking',
      { type: 'block-start', index: 0, block: { type: 'redacted_thinking', data: 'd"' } },
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"d\\""}}\n\n',
    ],
    [
      'a call',
      { type: 'block-start', index: 12, block: { type: 'tool_use', id: 'toolu_1', name: 'Re"ad' } },
      'event: content_block_start\ndata: {"type":"content_block_start","index":12,"content_block":{"type":"tool_use","id":"toolu_1","name":"Re\\"ad","input":{}}}\n\n',
    ],
    [
      'a text delta',
      { type: 'block-delta', index: 0, delta: { type: 'text', text: 'a"\n读\ud800' } },
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\\"\\n读\\ud800"}}\n\n',
    ],
    [
      'a thinking delta',
      { type: 'block-delta', index: 0, delta: { type: 'thinking', text: 't' } },
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"t"}}\n\n',
    ],
    [
      'a signature',
      { type: 'block-delta', index: 0, delta: { type: 'signature', signature: 's' } },
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}\n\n',
    ],
    [
      'arguments',
      { type: 'block-delta', index: 1, delta: { type: 'input', json: '{"a' } },
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"a"}}\n\n',
    ],
    [
      'a stop',
      { type: 'block-stop', index: 1 },
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":1}\n\n',
    ],
    [
      'message_delta',
      {
        type: 'message-delta',
        stopReason: 'stop_sequence',
        stopSequence: 'END',
        usage: { ...USAGE, outputTokens: 7, reasoningTokens: 3 },
      },
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END","stop_details":null},"usage":{"input_tokens":10,"cache_creation_input_tokens":40,"cache_read_input_tokens":30,"output_tokens":7,"output_tokens_details":{"thinking_tokens":3}}}\n\n',
    ],
    ['message_stop', { type: 'message-stop' }, 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
    ['ping', { type: 'ping' }, 'event: ping\ndata: {"type": "ping"}\n\n'],
    [
      'error',
      { type: 'error', error: new GatewayError('overloaded', 'Overloaded') },
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}\n\n',
    ],
  ])('%s', (_name, event, expected) => {
    expect(encode(event)).toBe(expected);
  });

  it('puts the input of a server tool into a delta, where clients look for it', () => {
    const value = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } };
    const wire = encode({
      type: 'block-start',
      index: 0,
      block: { type: 'opaque', dialect: 'anthropic-messages', kind: value.type, value },
    });
    expect(wire).toContain('"name":"web_search","input":{}}');
    expect(wire).toContain('"partial_json":"{\\"query\\":\\"x\\"}"');
  });

  it("closes the gap that another dialect's block leaves", () => {
    const foreign = { type: 'opaque', dialect: 'openai-responses', kind: 'x', value: {} } as const;
    const wire = encode(
      { type: 'block-start', index: 0, block: foreign },
      { type: 'block-stop', index: 0 },
      { type: 'block-start', index: 1, block: { type: 'text' } },
      { type: 'block-delta', index: 1, delta: { type: 'text', text: 'a' } },
      { type: 'block-stop', index: 1 },
    );
    expect(wire.match(/"index":\d/g)).toEqual(['"index":0', '"index":0', '"index":0']);
    expect(wire).not.toContain('openai');
  });

  it('fits ids as the whole answer does', () => {
    const wire = encode({
      type: 'block-start',
      index: 0,
      block: { type: 'tool_use', id: 'a.b:0', name: 'n' },
    });
    expect(wire).toMatch(/"id":"a_b_0_[0-9a-f]{8}"/);
  });
});

describe('the official client', () => {
  const turn: ModelEvent[] = [
    { type: 'start', usage: { inputTokens: 10, cacheReadTokens: 5 } },
    { type: 'ping' },
    { type: 'thinking', text: 'hm' },
    { type: 'signature', signature: 'sig' },
    { type: 'text', text: 'Reading' },
    { type: 'text', text: ' 文件' },
    { type: 'block', block: { type: 'redacted_thinking', data: 'd' } },
    { type: 'tool', key: 0, id: 'call:1', name: 'Read' },
    { type: 'tool-input', key: 0, json: '{"path":' },
    { type: 'tool-input', key: 0, json: '"/a"}' },
    { type: 'tool', key: 1, id: 'b', name: 'List' },
    {
      type: 'block',
      block: {
        type: 'opaque',
        dialect: 'anthropic-messages',
        kind: 'server_tool_use',
        value: { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
      },
    },
    { type: 'usage', usage: { outputTokens: 9 } },
    { type: 'stop', reason: 'tool_use' },
  ];

  function answer(events: ModelEvent[]) {
    const lifecycle = new StreamLifecycle({ id: 'msg_1', model: 'm' });
    const strict = [...lifecycle.push(events), ...lifecycle.end()];
    const wire = createStreamEncoder(ANSWER).encode(strict);
    const client = new Anthropic({
      apiKey: 'none',
      maxRetries: 0,
      fetch: async () => new Response(wire, { headers: { 'content-type': 'text/event-stream' } }),
    });
    return {
      strict,
      stream: client.messages.stream({
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'x' }],
      }),
    };
  }

  it('collects the same message from the stream as it gets whole', async () => {
    const { strict, stream } = answer(turn);
    const collector = new AnswerCollector();
    collector.push(strict);
    const whole = encodeResponse(collector.finish(), ANSWER, new LossLog());
    const { parsed_output: _, ...streamed } = await stream.finalMessage();
    expect(JSON.parse(JSON.stringify(streamed))).toEqual(whole);
  });

  it('throws what the stream failed with', async () => {
    const { stream } = answer([
      { type: 'text', text: 'a' },
      { type: 'error', error: new GatewayError('rate_limited', 'Slow down') },
    ]);
    await expect(stream.finalMessage()).rejects.toMatchObject({
      type: 'rate_limit_error',
      apiMessage: 'Slow down',
    });
  });
});
