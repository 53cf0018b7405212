import { describe, expect, it } from 'vitest';
import { decodeUsage, encodeUsage, flatName, stopReasonFrom } from './wire.js';

describe('usage', () => {
  it('goes both ways', () => {
    const usage = {
      inputTokens: 5,
      cacheReadTokens: 3,
      cacheWriteTokens: 1,
      outputTokens: 7,
      reasoningTokens: 2,
    };
    expect(decodeUsage(encodeUsage(usage))).toEqual(usage);
  });

  it('never counts the cache twice, nor below nothing', () => {
    expect(decodeUsage({ input_tokens: 10, input_tokens_details: { cached_tokens: 99 } })).toMatchObject({
      inputTokens: 0,
      cacheReadTokens: 10,
    });
  });

  it.each([null, undefined, 'x', {}, { input_tokens: -1 }, { input_tokens: '7' }])('%j is none', (value) => {
    expect(decodeUsage(value)).toBeUndefined();
  });

  it('may be of one side only', () => {
    expect(decodeUsage({ output_tokens: 4 })).toEqual({ outputTokens: 4 });
  });
});

it('an answer that is incomplete for a new reason was cut', () => {
  expect(stopReasonFrom('something_new')).toBe('max_tokens');
  expect(stopReasonFrom('content_filter')).toBe('refusal');
});

it.each([
  ['mail', 'send', 'mail__send'],
  ['mcp__mail__', 'send', 'mcp__mail__send'],
  ['functions', 'exec', 'exec'],
])('%s and %s are %s', (namespace, name, flat) => {
  expect(flatName(namespace, name)).toBe(flat);
});
