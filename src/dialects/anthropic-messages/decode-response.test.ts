import { describe, expect, it } from 'vitest';
import type { ModelEvent } from '../../core/events.js';
import { ToolNames } from '../shared/tool-names.js';
import { decodeResponse } from './decode-response.js';
import { TOOL_NAME_LIMITS } from './wire.js';

const names = new ToolNames(TOOL_NAME_LIMITS);

const answer = (content: unknown[], fields: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5-5',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: null },
  ...fields,
});

const decode = (body: unknown): ModelEvent[] => decodeResponse(body, names);
/** What lies between the start and the stop. */
const middle = (content: unknown[]): ModelEvent[] => decode(answer(content)).slice(1, -1);

describe('a whole answer', () => {
  it('has a start with its usage and a stop', () => {
    const usage = { input_tokens: 5, output_tokens: 6, output_tokens_details: { thinking_tokens: 4 } };
    expect(decode(answer([], { stop_reason: 'stop_sequence', stop_sequence: 'END', usage }))).toEqual([
      {
        type: 'start',
        id: 'msg_1',
        model: 'claude-opus-5-5',
        usage: { inputTokens: 5, outputTokens: 6, reasoningTokens: 4 },
      },
      { type: 'stop', reason: 'stop_sequence', stopSequence: 'END' },
    ]);
  });

  it.each<[unknown, string]>([
    ['end_turn', 'end_turn'],
    ['max_tokens', 'max_tokens'],
    ['tool_use', 'tool_use'],
    ['pause_turn', 'pause_turn'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'context_window_exceeded'],
    ['compaction', 'compaction'],
    ['of_the_future', 'end_turn'],
    [null, 'end_turn'],
  ])('stop_reason %s is %s', (wire, reason) => {
    expect(decode(answer([], { stop_reason: wire })).at(-1)).toEqual({ type: 'stop', reason });
  });

  it('keeps text blocks apart', () => {
    expect(
      middle([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ).toEqual([
      { type: 'text', text: 'a' },
      { type: 'break' },
      { type: 'text', text: 'b' },
      { type: 'break' },
    ]);
  });

  it('carries thinking with its proof', () => {
    expect(
      middle([
        { type: 'thinking', thinking: 't', signature: 's' },
        { type: 'redacted_thinking', data: 'd' },
      ]),
    ).toEqual([
      { type: 'thinking', text: 't' },
      { type: 'signature', signature: 's' },
      { type: 'break' },
      { type: 'block', block: { type: 'redacted_thinking', data: 'd' } },
    ]);
  });

  it('carries calls by their own names, arguments in their order', () => {
    const wire = names.encode('my.tool');
    const call = {
      type: 'tool_use',
      id: 'toolu_1',
      name: wire,
      input: { b: 1, a: 2 },
      caller: { type: 'direct' },
    };
    expect(middle([call])).toEqual([
      {
        type: 'tool',
        key: 0,
        id: 'toolu_1',
        name: 'my.tool',
        extensions: { 'anthropic-messages': { caller: { type: 'direct' } } },
      },
      { type: 'tool-input', key: 0, json: '{"b":1,"a":2}' },
      { type: 'tool-end', key: 0 },
    ]);
  });

  it.each<[unknown, string]>([
    [undefined, '{}'],
    [null, '{}'],
    ['{"a":1}', '{"a":1}'],
  ])('reads the input %j', (input, json) => {
    expect(middle([{ type: 'tool_use', id: 'a', name: 'n', input }])[1]).toEqual({
      type: 'tool-input',
      key: 0,
      json,
    });
  });

  it('passes blocks of this wire on as they are and skips what is none', () => {
    const value = { type: 'web_search_tool_result', tool_use_id: 's', content: [] };
    expect(middle([value, null, 5, {}, { type: 'redacted_thinking' }])).toEqual([
      {
        type: 'block',
        block: { type: 'opaque', dialect: 'anthropic-messages', kind: 'web_search_tool_result', value },
      },
    ]);
  });
});

describe('what is not an answer', () => {
  it.each<[string, unknown, object]>([
    [
      'an error',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      { code: 'overloaded', message: 'Overloaded', retryable: true },
    ],
    [
      'an error of another wire',
      { error: { message: 'boom' } },
      { code: 'upstream_failed', message: 'boom' },
    ],
    ['a page', '<html>', { code: 'upstream_failed', message: expect.stringContaining('base_url') }],
    ['nothing', undefined, { code: 'upstream_failed' }],
    ['an array', [], { code: 'upstream_failed' }],
    ['a chat completion', { object: 'chat.completion', choices: [] }, { code: 'upstream_failed' }],
    ['content that is none', answer([], { content: 'text' }), { code: 'upstream_failed' }],
  ])('%s is an error event', (_name, body, error) => {
    const events = decode(body);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ type: 'error', error });
  });
});
