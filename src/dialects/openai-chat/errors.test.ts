import { describe, expect, it } from 'vitest';
import { type ErrorCode, GatewayError } from '../../core/errors.js';
import { decodeError, encodeError } from './errors.js';

describe('encodeError', () => {
  it.each<[ErrorCode, string, string | null]>([
    ['invalid_request', 'invalid_request_error', null],
    ['unauthenticated', 'authentication_error', 'invalid_api_key'],
    ['rate_limited', 'rate_limit_error', 'rate_limit_exceeded'],
    ['billing', 'insufficient_quota', 'insufficient_quota'],
    ['context_overflow', 'invalid_request_error', 'context_length_exceeded'],
    ['upstream_failed', 'server_error', 'upstream_error'],
    ['overloaded', 'server_error', 'overloaded'],
    ['unknown_tool_call', 'invalid_request_error', 'unknown_tool_call'],
  ])('%s', (code, type, word) => {
    expect(encodeError(new GatewayError(code, 'text'))).toEqual({
      error: { message: 'text', type, param: null, code: word },
    });
  });

  it('names the field, the missing model and a provider’s finer code', () => {
    expect(
      encodeError(new GatewayError('invalid_request', 'x', { param: 'messages.0', detail: 'bad_thing' })),
    ).toMatchObject({
      error: { param: 'messages.0', code: 'bad_thing' },
    });
    expect(encodeError(new GatewayError('not_found', 'x', { param: 'model' }))).toMatchObject({
      error: { code: 'model_not_found' },
    });
    expect(encodeError(new GatewayError('not_found', 'x'))).toMatchObject({ error: { code: 'not_found' } });
    expect(encodeError(new GatewayError('rate_limited', 'x', { detail: 'tokens' }))).toMatchObject({
      error: { code: 'rate_limit_exceeded' },
    });
  });
});

describe('decodeError', () => {
  it.each<ErrorCode>(['invalid_request', 'rate_limited', 'context_overflow', 'overloaded', 'unavailable'])(
    'reads what this wire writes: %s',
    (code) => {
      const error = new GatewayError(code, 'text', { param: 'x' });
      const decoded = decodeError(error.status, {}, encodeError(error));
      expect(decoded).toMatchObject({ code, status: error.status, message: 'text', param: 'x' });
    },
  );

  it('says whose credential was refused', () => {
    const error = decodeError(
      401,
      {},
      { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } },
    );
    expect(error.code).toBe('unauthenticated');
    expect(error.message).toMatch(/gateway's credential: Incorrect API key provided.*api_key/);
  });
});
