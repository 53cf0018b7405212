import { describe, expect, it } from 'vitest';
import { limitedForSeconds, spentForSeconds } from './rate-limit-headers.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');

describe('limits that an upstream says are used up', () => {
  it.each([
    [
      'Anthropic, by a date',
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:30Z',
      },
      30,
    ],
    [
      'Anthropic, a plan',
      {
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': String(NOW / 1000 + 90),
      },
      90,
    ],
    [
      'OpenAI, by a duration',
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' },
      360,
    ],
    [
      'OpenAI, by a short one',
      { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '17ms' },
      0.017,
    ],
    ['Azure, in seconds', { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '12' }, 12],
    [
      'OpenRouter, in milliseconds since 1970',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW + 5000) },
      5,
    ],
    [
      'the longest of several',
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '2m59.56s',
      },
      179.56,
    ],
  ])('%s', (_name, headers, seconds) => {
    expect(spentForSeconds(headers, NOW)).toBeCloseTo(seconds, 3);
  });

  it.each([
    ['something is left', { 'x-ratelimit-remaining-tokens': '1', 'x-ratelimit-reset-tokens': '6m0s' }],
    ['nothing says until when', { 'x-ratelimit-remaining-tokens': '0' }],
    ['the time is no time', { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': 'soon' }],
    ['the number is empty', { 'x-ratelimit-remaining-tokens': ' ', 'x-ratelimit-reset-tokens': '1s' }],
    ['there are no such headers', { 'content-type': 'application/json' }],
  ])('are none where %s', (_name, headers) => {
    expect(spentForSeconds(headers, NOW)).toBeUndefined();
  });

  it('are less than what a 429 asks for itself', () => {
    const headers = { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' };
    expect(limitedForSeconds({ ...headers, 'retry-after': '7' }, NOW)).toBe(7);
    expect(limitedForSeconds(headers, NOW)).toBe(360);
    expect(limitedForSeconds({}, NOW)).toBeUndefined();
  });
});
