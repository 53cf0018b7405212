import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { ToolNames } from '../shared/tool-names.js';
import { decodeResponse } from './decode-response.js';
import { nameLimits } from './wire.js';

const decode = (body: unknown): ModelEvent[] => decodeResponse(body, new ToolNames(nameLimits(64)));

const whole = (output: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt',
  error: null,
  incomplete_details: null,
  output,
  ...more,
});

const message = (text: string): JsonObject => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});

describe('a whole answer', () => {
  it('is what it would have streamed', () => {
    const events = decode(
      whole(
        [
          { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
          message('Hello'),
          { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'Read', arguments: '{"a":1}' },
        ],
        { usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 4 }, output_tokens: 5 } },
      ),
    );
    expect(events.filter(({ type }) => type !== 'break')).toEqual([
      { type: 'start', id: 'resp_1', model: 'gpt' },
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Hello' },
      { type: 'tool', key: 2, id: 'call_1', name: 'Read' },
      { type: 'tool-input', key: 2, json: '{"a":1}' },
      { type: 'tool-end', key: 2 },
      {
        type: 'usage',
        usage: { inputTokens: 6, cacheReadTokens: 4, cacheWriteTokens: 0, outputTokens: 5 },
      },
      { type: 'stop', reason: 'tool_use' },
    ]);
  });

  it('keeps the parts of a message apart', () => {
    const content = ['One', 'Two'].map((text) => ({ type: 'output_text', text }));
    const events = decode(whole([{ type: 'message', role: 'assistant', content }]));
    expect(events.map(({ type }) => type)).toEqual([
      'start',
      'text',
      'break',
      'text',
      'break',
      'break',
      'stop',
    ]);
  });

  it.each([
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'max_tokens'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'refusal'],
    [{ status: 'incomplete', incomplete_details: null }, 'max_tokens'],
    [{ status: undefined }, 'end_turn'],
  ])('ends as %j says', (more, reason) => {
    expect(decode(whole([message('Hi')], more)).at(-1)).toEqual({ type: 'stop', reason });
  });
});

describe('an answer that is none', () => {
  it('is the error that it holds', () => {
    const failed = whole([], {
      status: 'failed',
      error: { code: 'rate_limit_exceeded', message: 'Please try again in 2s.' },
    });
    expect(decode(failed).at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'rate_limited', retryable: true, retryAfter: 2 },
    });
  });

  it.each([
    [{ error: { message: 'No such model', code: 'model_not_found' } }, 'not_found', 'No such model'],
    ['<html><title>Bad Gateway</title></html>', 'upstream_failed', 'Bad Gateway'],
    [whole([], { status: 'in_progress' }), 'upstream_failed', 'base_url'],
    [whole([], { status: 'cancelled' }), 'upstream_failed', 'cancelled'],
    [{ choices: [] }, 'upstream_failed', 'base_url'],
    [null, 'upstream_failed', 'base_url'],
  ])('%j fails', (body, code, words) => {
    const last = decode(body).at(-1);
    expect(last).toMatchObject({ type: 'error', error: { code } });
    expect(last?.type === 'error' && last.error.message).toContain(words);
  });
});
