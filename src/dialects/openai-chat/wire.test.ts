import { describe, expect, it } from 'vitest';
import { decodeUsage, encodeUsage, FINISH_REASONS, stopReasonFrom } from './wire.js';

describe('usage', () => {
  it.each([
    [
      'OpenAI',
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
      { inputTokens: 30, cacheReadTokens: 60, cacheWriteTokens: 10, outputTokens: 20, reasoningTokens: 5 },
    ],
    [
      'DeepSeek',
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        prompt_cache_hit_tokens: 64,
        prompt_cache_miss_tokens: 36,
      },
      { inputTokens: 36, cacheReadTokens: 64, cacheWriteTokens: 0, outputTokens: 20 },
    ],
    [
      'Moonshot',
      { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, cached_tokens: 50 },
      { inputTokens: 50, cacheReadTokens: 50, cacheWriteTokens: 0, outputTokens: 20 },
    ],
    [
      'xAI and Gemini: reasoning only in the total',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 115,
        completion_tokens_details: { reasoning_tokens: 100 },
      },
      { inputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 105, reasoningTokens: 100 },
    ],
    [
      'more cached than there was',
      { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 99 } },
      { inputTokens: 0, cacheReadTokens: 10, cacheWriteTokens: 0, outputTokens: 1 },
    ],
    ['only the answer', { completion_tokens: 3 }, { outputTokens: 3 }],
    ['nothing', {}, undefined],
    ['null', null, undefined],
    ['nonsense', { prompt_tokens: 'many', completion_tokens: -1 }, undefined],
  ])('%s', (_name, wire, usage) => {
    expect(decodeUsage(wire)).toEqual(usage);
  });

  it('leaves out what is no count', () => {
    expect(decodeUsage({ prompt_tokens: 1.5, completion_tokens: 2 })).toEqual({ outputTokens: 2 });
    expect(decodeUsage({ prompt_tokens: -1, completion_tokens: 1e308 })).toBeUndefined();
    expect(decodeUsage({ prompt_tokens: '7' })).toBeUndefined();
  });

  it('comes back from the wire as it was', () => {
    const usage = {
      inputTokens: 7,
      outputTokens: 5,
      cacheReadTokens: 3,
      cacheWriteTokens: 2,
      reasoningTokens: 1,
    };
    expect(encodeUsage(usage)).toMatchObject({ prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 });
    expect(decodeUsage(encodeUsage(usage))).toEqual(usage);
  });
});

describe('reasons to stop', () => {
  it('come back as themselves where this wire has a word for them', () => {
    expect(stopReasonFrom(FINISH_REASONS.end_turn)).toBe('end_turn');
    expect(stopReasonFrom(FINISH_REASONS.tool_use)).toBe('tool_use');
    expect(stopReasonFrom(FINISH_REASONS.max_tokens)).toBe('max_tokens');
    expect(stopReasonFrom(FINISH_REASONS.refusal)).toBe('refusal');
  });

  it('a failure is no reason, an unknown word is an end', () => {
    expect(stopReasonFrom('insufficient_system_resource')).toBeUndefined();
    expect(stopReasonFrom('SAFETY')).toBe('refusal');
    expect(stopReasonFrom('something_new')).toBe('end_turn');
  });
});
