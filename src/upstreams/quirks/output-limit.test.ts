import { describe, expect, it } from 'vitest';
import type { ConversationRequest } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { STANDARD_QUIRKS } from '../../dialects/shared/quirks.js';
import { outputLimitIn, withinOutputLimit } from './output-limit.js';

describe('the longest answer, from an error', () => {
  it.each([
    [
      'max_tokens is too large: 128000. This model supports at most 16384 completion tokens, whereas you provided 128000.',
      16384,
    ],
    [
      "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 32768, but got 128000 instead.",
      32768,
    ],
    ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 8192],
    ['<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 65536]', 65536],
    [
      '`max_completion_tokens` must be less than or equal to `8192`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model',
      8192,
    ],
    ['max_tokens must be at most 4096', 4096],
    [
      'max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5',
      64000,
    ],
    [
      'Unable to submit request because it has a maxOutputTokens value of 128000 but the supported range is from 1 (inclusive) to 65537 (exclusive).',
      65536,
    ],
    [
      'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.',
      4096,
    ],
    [
      'input length and `max_tokens` exceed context limit: 11000 + 128000 > 32768, decrease input length or `max_tokens` and try again',
      16384,
    ],
  ])('%s', (message, limit) => {
    expect(outputLimitIn(message)).toBe(limit);
  });

  it.each(['prompt is too long: 140000 tokens > 128000 maximum', "Unsupported parameter: 'max_tokens'", ''])(
    'is not in: %s',
    (message) => {
      expect(outputLimitIn(message)).toBeUndefined();
    },
  );
});

describe('a request within the limit', () => {
  const request = (maxTokens?: number): ConversationRequest => ({
    model: 'm',
    system: [],
    messages: [],
    tools: [],
    providerTools: [],
    stopSequences: [],
    stream: false,
    extensions: {},
    ...(maxTokens === undefined ? {} : { maxTokens }),
  });

  it('is cut, and says so', () => {
    const losses = new LossLog();
    const quirks = { ...STANDARD_QUIRKS, maxOutputTokens: 100 };
    expect(withinOutputLimit(request(101), quirks, losses).maxTokens).toBe(100);
    expect(losses.list()).toMatchObject([{ path: 'max_tokens' }]);
  });

  it.each([undefined, 100])('is as it was where it asks for %s', (maxTokens) => {
    const losses = new LossLog();
    const asked = request(maxTokens);
    expect(withinOutputLimit(asked, { ...STANDARD_QUIRKS, maxOutputTokens: 100 }, losses)).toBe(asked);
    expect(losses.size).toBe(0);
  });
});
