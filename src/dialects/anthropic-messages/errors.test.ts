import { describe, expect, it } from 'vitest';
import { type ErrorCode, GatewayError } from '../../core/errors.js';
import { decodeError, decodeErrorBody, encodeError } from './errors.js';

describe('to the client', () => {
  it.each<[ErrorCode, string]>([
    ['invalid_request', 'invalid_request_error'],
    ['unauthenticated', 'authentication_error'],
    ['billing', 'billing_error'],
    ['forbidden', 'permission_error'],
    ['not_found', 'not_found_error'],
    ['too_large', 'request_too_large'],
    ['rate_limited', 'rate_limit_error'],
    ['timeout', 'timeout_error'],
    ['conflict', 'conflict_error'],
    ['upstream_timeout', 'timeout_error'],
    ['internal', 'api_error'],
    ['upstream_failed', 'api_error'],
    ['overloaded', 'overloaded_error'],
    ['unavailable', 'overloaded_error'],
    ['unknown_tool_call', 'invalid_request_error'],
  ])('%s is %s', (code, type) => {
    expect(encodeError(new GatewayError(code, 'Why.'), 'req_1')).toEqual({
      type: 'error',
      error: { type, message: 'Why.' },
      request_id: 'req_1',
    });
  });

  it("passes a provider's finer code on", () => {
    const error = new GatewayError('invalid_request', 'm', { detail: 'tool_name_conflict' });
    expect(encodeError(error, 'r')['error']).toEqual({
      type: 'invalid_request_error',
      message: 'm',
      details: { error_code: 'tool_name_conflict' },
    });
  });

  it('words an overflow so that Claude Code compacts', () => {
    const message =
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens.";
    expect(encodeError(new GatewayError('context_overflow', message), 'r')['error']).toEqual({
      type: 'invalid_request_error',
      message: `prompt is too long: 130512 tokens > 128000 maximum (${message})`,
    });
  });
});

const wire = (type: string, message: string, more: object = {}) => ({
  type: 'error',
  error: { type, message, ...more },
  request_id: 'req_up',
});

describe('from the upstream', () => {
  it.each<[number, unknown, ErrorCode, boolean]>([
    [400, wire('invalid_request_error', 'max_tokens: required'), 'invalid_request', false],
    [
      400,
      wire('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
      'context_overflow',
      false,
    ],
    [
      400,
      wire('invalid_request_error', 'input length and `max_tokens` exceed context limit: 1 + 2 > 2'),
      'context_overflow',
      false,
    ],
    [
      400,
      wire('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
      'billing',
      false,
    ],
    [401, wire('authentication_error', 'invalid x-api-key'), 'unauthenticated', false],
    [402, wire('billing_error', 'pay'), 'billing', false],
    [403, wire('permission_error', 'no'), 'forbidden', false],
    [404, wire('not_found_error', 'model: x'), 'not_found', false],
    [409, wire('conflict_error', 'x'), 'conflict', false],
    [413, wire('request_too_large', 'Request exceeds the maximum size'), 'too_large', false],
    [429, wire('rate_limit_error', 'slow down'), 'rate_limited', true],
    [500, wire('api_error', 'Internal server error'), 'upstream_failed', true],
    [500, wire('overloaded_error', 'Overloaded'), 'overloaded', true],
    [
      502,
      '<html><head><style>b{}</style></head><body><h1>502 Bad Gateway</h1></body></html>',
      'upstream_failed',
      true,
    ],
    [503, undefined, 'unavailable', true],
    [504, wire('timeout_error', 'x'), 'upstream_timeout', true],
    [529, wire('overloaded_error', 'Overloaded'), 'overloaded', true],
    [418, { error: 'teapot' }, 'invalid_request', false],
    [422, { detail: 'bad' }, 'unprocessable', false],
  ])('%i %j is %s', (status, body, code, retryable) => {
    expect(decodeError(status, {}, body)).toMatchObject({ code, status, retryable });
  });

  it.each<[unknown, string]>([
    [wire('api_error', 'boom'), 'boom'],
    [{ error: { message: 'boom' } }, 'boom'],
    [{ error: 'boom' }, 'boom'],
    [{ message: 'boom' }, 'boom'],
    [{ detail: 'boom' }, 'boom'],
    ['<html><body><h1>502\n Bad Gateway</h1></body></html>', '502 Bad Gateway'],
    ['x'.repeat(2000), 'x'.repeat(500)],
    [{}, 'The upstream answered 500 without a message.'],
    ['', 'The upstream answered 500 without a message.'],
  ])('reads the message of %j', (body, message) => {
    expect(decodeError(500, {}, body).message).toBe(message);
  });

  it('keeps when to retry, the finer code and the id of the request', () => {
    const headers = { 'retry-after': '7', 'request-id': 'req_head' };
    const error = decodeError(
      429,
      headers,
      wire('rate_limit_error', 'm', { details: { error_code: 'ramp_limit_exceeded' } }),
    );
    expect(error).toMatchObject({
      retryAfter: 7,
      detail: 'ramp_limit_exceeded',
      cause: { upstreamRequestId: 'req_head', type: 'rate_limit_error' },
    });
    expect(decodeError(429, {}, wire('rate_limit_error', 'm')).cause).toMatchObject({
      upstreamRequestId: 'req_up',
    });
  });

  it('believes the upstream about retrying', () => {
    expect(decodeError(400, { 'x-should-retry': 'true' }, undefined).retryable).toBe(true);
    expect(decodeError(529, { 'x-should-retry': 'false' }, undefined).retryable).toBe(false);
  });

  it('reads an error without a status', () => {
    expect(decodeErrorBody(wire('rate_limit_error', 'm'))).toMatchObject({
      code: 'rate_limited',
      status: 429,
      retryable: true,
    });
    expect(decodeErrorBody({})).toMatchObject({ code: 'upstream_failed', retryable: true });
  });

  it('cuts what is too long for a message and reads no page to its end', () => {
    const long = 'a'.repeat(5_000_000);
    const error = decodeError(400, {}, { error: { message: long, details: { error_code: long } } });
    expect(error.message).toHaveLength(2_000);
    expect(error.detail).toHaveLength(500);
    expect(decodeError(502, {}, '<'.repeat(5_000_000)).message).toHaveLength(500);
  });

  it('does not pass a redirect on', () => {
    expect(decodeError(307, {}, '')).toMatchObject({ status: 502 });
  });
});
