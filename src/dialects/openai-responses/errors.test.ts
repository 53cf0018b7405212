import { describe, expect, it } from 'vitest';
import { type ErrorCode, GatewayError } from '../../core/errors.js';
import { decodeError, encodeError, failsInAnswer, failureOf, streamError } from './errors.js';

describe('an answer that failed', () => {
  it.each<[ErrorCode, string]>([
    ['context_overflow', 'context_length_exceeded'],
    ['billing', 'insufficient_quota'],
    ['rate_limited', 'rate_limit_exceeded'],
    ['overloaded', 'server_is_overloaded'],
    ['invalid_request', 'invalid_prompt'],
    ['upstream_failed', 'server_error'],
    ['internal', 'server_error'],
  ])('of %s says %s', (code, word) => {
    expect(failureOf(new GatewayError(code, 'm'))).toEqual({ code: word, message: 'm' });
  });

  it('says how long to wait, in words that Codex reads', () => {
    const wait = (message: string) =>
      failureOf(new GatewayError('rate_limited', message, { retryAfter: 2.5 })).message;
    expect(wait('Slow down.')).toBe('Slow down. Please try again in 2.5s.');
    expect(wait('Please try again in 3s.')).toBe('Please try again in 3s.');
  });
});

describe('an error before the answer began', () => {
  const codex = { 'user-agent': 'codex_cli_rs/0.166.0 (Debian 12; x86_64)' };

  it.each([
    ['context_overflow', codex, true],
    ['context_overflow', { 'user-agent': 'OpenAI/JS 6.49.0' }, false],
    ['context_overflow', {}, false],
    ['rate_limited', codex, false],
  ] as const)('%s to %o is said in an answer: %s', (code, headers, said) => {
    expect(failsInAnswer(new GatewayError(code, 'm'), headers)).toBe(said);
  });
});

it('an error event has its fields outside and inside', () => {
  const error = new GatewayError('rate_limited', 'm', { param: 'p' });
  const fields = { code: 'rate_limit_exceeded', message: 'm', param: 'p' };
  expect(streamError(error, 4)).toEqual({
    type: 'error',
    ...fields,
    sequence_number: 4,
    error: { type: 'rate_limit_error', ...fields },
  });
});

it('bodies and statuses are those of the other OpenAI wire', () => {
  const wire = encodeError(new GatewayError('not_found', 'm', { detail: 'previous_response_not_found' }));
  expect(wire).toEqual({
    error: { message: 'm', type: 'invalid_request_error', param: null, code: 'previous_response_not_found' },
  });
  expect(decodeError(429, {}, wire)).toMatchObject({ code: 'rate_limited', retryable: true });
});
