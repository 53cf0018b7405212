import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { decodeRequest } from './decode-request.js';
import { createStreamEncoder } from './encode-stream.js';

const CONTEXT = { model: 'asked', requestId: 'req_1', created: 1700000000 };
const ENVELOPE = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1700000000, model: 'asked' };

function encode(events: ModelEvent[], fields: JsonObject = {}): string {
  const request = decodeRequest({
    model: 'asked',
    messages: [{ role: 'user', content: 'q' }],
    stream: true,
    ...fields,
  });
  const lifecycle = new StreamLifecycle({ id: 'chatcmpl-1', model: 'asked' });
  const encoder = createStreamEncoder(request, CONTEXT);
  return encoder.encode(lifecycle.push(events)) + encoder.encode(lifecycle.end());
}

const chunk = (delta: JsonObject, finish_reason: string | null = null, rest: JsonObject = {}) => ({
  ...ENVELOPE,
  choices: [{ index: 0, delta, finish_reason }],
  ...rest,
});

/** Every event is one `data:` line; `[DONE]` and comments stay as they are. */
function parse(text: string): unknown[] {
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((event) => {
      const data = event.replace(/^data: /, '');
      return data.startsWith('{') ? JSON.parse(data) : event;
    });
}

const ROLE = chunk({ role: 'assistant', content: '' });
const DONE = 'data: [DONE]';
const STOP: ModelEvent = { type: 'stop', reason: 'end_turn' };

describe('chunks', () => {
  it('of text, byte for byte', () => {
    expect(encode([{ type: 'text', text: 'Hi "you"\n' }, STOP])).toBe(
      [
        'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"asked","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}',
        'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"asked","choices":[{"index":0,"delta":{"content":"Hi \\"you\\"\\n"},"finish_reason":null}]}',
        'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"asked","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
        'data: [DONE]',
        '',
      ].join('\n\n'),
    );
  });

  it('of calls: id and name, then pieces of arguments', () => {
    const events: ModelEvent[] = [
      { type: 'text', text: 'a' },
      { type: 'tool', key: 0, id: 'x', name: 'f' },
      { type: 'tool-input', key: 0, json: '{"a"' },
      { type: 'tool-input', key: 0, json: ':1}' },
      { type: 'tool', key: 1, id: 'y', name: 'g' },
      { type: 'stop', reason: 'tool_use' },
    ];
    expect(parse(encode(events))).toEqual([
      ROLE,
      chunk({ content: 'a' }),
      chunk({
        tool_calls: [{ index: 0, id: 'x', type: 'function', function: { name: 'f', arguments: '' } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      chunk({
        tool_calls: [{ index: 1, id: 'y', type: 'function', function: { name: 'g', arguments: '' } }],
      }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
      DONE,
    ]);
  });

  it('of usage only when it was asked for', () => {
    const usage: ModelEvent = {
      type: 'usage',
      usage: { inputTokens: 3, outputTokens: 2, cacheReadTokens: 1 },
    };
    const parsed = parse(
      encode([{ type: 'text', text: 'a' }, STOP, usage], { stream_options: { include_usage: true } }),
    );
    expect(parsed.slice(0, -2)).toEqual([
      { ...ROLE, usage: null },
      chunk({ content: 'a' }, null, { usage: null }),
      chunk({}, 'stop', { usage: null }),
    ]);
    expect(parsed.slice(-2)).toEqual([
      {
        ...ENVELOPE,
        choices: [],
        usage: {
          prompt_tokens: 4,
          completion_tokens: 2,
          total_tokens: 6,
          prompt_tokens_details: { cached_tokens: 1 },
          completion_tokens_details: { reasoning_tokens: 0 },
        },
      },
      DONE,
    ]);
    expect(encode([STOP, usage])).not.toContain('usage');
  });

  it('of thinking, with its proof once and whole', () => {
    const events: ModelEvent[] = [
      { type: 'thinking', text: 'h' },
      { type: 'thinking', text: 'm' },
      { type: 'signature', signature: 'c2ln' },
      { type: 'block', block: { type: 'redacted_thinking', data: 'cmVk' } },
      { type: 'text', text: 'a' },
      STOP,
    ];
    expect(parse(encode(events)).slice(1, -2)).toEqual([
      chunk({ reasoning_content: 'h' }),
      chunk({ reasoning_content: 'm' }),
      chunk({
        reasoning_details: [
          { type: 'reasoning.text', text: 'hm', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
        ],
      }),
      chunk({
        reasoning_details: [
          { type: 'reasoning.encrypted', data: 'cmVk', format: 'anthropic-claude-v1', index: 1 },
        ],
      }),
      chunk({ content: 'a' }),
    ]);
  });

  it('of what only this wire has; what only another has is left out', () => {
    const events: ModelEvent[] = [
      { type: 'block', block: { type: 'opaque', dialect: 'anthropic-messages', kind: 'x', value: { x: 1 } } },
      {
        type: 'block',
        block: { type: 'opaque', dialect: 'openai-chat', kind: 'audio', value: { audio: { id: 'a' } } },
      },
      {
        type: 'block',
        block: {
          type: 'opaque',
          dialect: 'openai-chat',
          kind: 'logprobs',
          value: { logprobs: { content: [] } },
        },
      },
      STOP,
    ];
    expect(parse(encode(events)).slice(1, -2)).toEqual([
      chunk({ audio: { id: 'a' } }),
      { ...ENVELOPE, choices: [{ index: 0, delta: {}, logprobs: { content: [] }, finish_reason: null }] },
    ]);
  });

  it('of an error end the stream without [DONE]', () => {
    const error = new GatewayError('overloaded', 'Try later.');
    expect(
      parse(
        encode([
          { type: 'text', text: 'a' },
          { type: 'error', error },
        ]),
      ),
    ).toEqual([
      ROLE,
      chunk({ content: 'a' }),
      { error: { message: 'Try later.', type: 'server_error', param: null, code: 'overloaded' } },
    ]);
  });

  it('of nothing are comments', () => {
    expect(encode([{ type: 'ping' }, STOP])).toContain('\n\n: ping\n\n');
  });

  it('of a refusal without words', () => {
    expect(parse(encode([{ type: 'stop', reason: 'refusal' }]))).toEqual([
      ROLE,
      chunk({ refusal: 'The model declined to answer.' }),
      chunk({}, 'content_filter'),
      DONE,
    ]);
  });

  it('of a stop sequence', () => {
    const events: ModelEvent[] = [
      { type: 'text', text: 'a' },
      { type: 'stop', reason: 'stop_sequence', stopSequence: 'END' },
    ];
    expect(parse(encode(events)).at(-2)).toEqual({
      ...ENVELOPE,
      choices: [{ index: 0, delta: {}, stop_reason: 'END', finish_reason: 'stop' }],
    });
  });
});

describe('other forms of a call', () => {
  const call: ModelEvent[] = [
    { type: 'tool', key: 0, id: 'x', name: 'patch' },
    { type: 'tool-input', key: 0, json: '{"input":"a\\n' },
    { type: 'tool-input', key: 0, json: 'b"}' },
    { type: 'stop', reason: 'tool_use' },
  ];

  it('free text', () => {
    const tools = [{ type: 'custom', custom: { name: 'patch' } }];
    expect(parse(encode(call, { tools })).slice(1, -2)).toEqual([
      chunk({ tool_calls: [{ index: 0, id: 'x', type: 'custom', custom: { name: 'patch', input: '' } }] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: 'a\nb' } }] }),
    ]);
  });

  it('function_call, of which there is one', () => {
    const second: ModelEvent[] = [
      { type: 'tool', key: 1, id: 'y', name: 'other' },
      { type: 'tool-input', key: 1, json: '{}' },
    ];
    expect(
      parse(
        encode([...call.slice(0, 3), ...second, ...call.slice(3)], { functions: [{ name: 'patch' }] }),
      ).slice(1),
    ).toEqual([
      chunk({ function_call: { name: 'patch', arguments: '' } }),
      chunk({ function_call: { arguments: '{"input":"a\\n' } }),
      chunk({ function_call: { arguments: 'b"}' } }),
      chunk({}, 'function_call'),
      DONE,
    ]);
  });
});
