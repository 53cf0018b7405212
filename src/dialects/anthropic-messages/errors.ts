/** Errors of this wire, both ways. */
import type { ErrorType } from '@anthropic-ai/sdk/resources/shared.js';
import type { JsonObject } from '../../core/conversation.js';
import { type ErrorCode, GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import { isContextOverflow, promptTooLong } from '../shared/context-overflow.js';
import type { WireHeaders } from '../shared/dialect.js';
import { retryAfterSeconds } from '../shared/retry-after.js';
import { namingCapability } from './rejected-capability.js';

/** `request_too_large` is documented for 413 and missing in the SDK's list. */
type WireErrorType = ErrorType | 'request_too_large';

const TYPE_OF: Readonly<Record<ErrorCode, WireErrorType>> = {
  invalid_request: 'invalid_request_error',
  unauthenticated: 'authentication_error',
  billing: 'billing_error',
  forbidden: 'permission_error',
  not_found: 'not_found_error',
  method_not_allowed: 'invalid_request_error',
  timeout: 'timeout_error',
  conflict: 'conflict_error',
  gone: 'not_found_error',
  too_large: 'request_too_large',
  unsupported_media_type: 'invalid_request_error',
  unprocessable: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  client_closed: 'invalid_request_error',
  internal: 'api_error',
  not_implemented: 'api_error',
  upstream_failed: 'api_error',
  unavailable: 'overloaded_error',
  upstream_timeout: 'timeout_error',
  overloaded: 'overloaded_error',
  context_overflow: 'invalid_request_error',
  unknown_tool_call: 'invalid_request_error',
};

const CODE_OF_TYPE: ReadonlyMap<unknown, ErrorCode> = new Map<WireErrorType, ErrorCode>([
  ['invalid_request_error', 'invalid_request'],
  ['authentication_error', 'unauthenticated'],
  ['billing_error', 'billing'],
  ['permission_error', 'forbidden'],
  ['not_found_error', 'not_found'],
  ['request_too_large', 'too_large'],
  ['rate_limit_error', 'rate_limited'],
  ['timeout_error', 'upstream_timeout'],
  ['conflict_error', 'conflict'],
  ['overloaded_error', 'overloaded'],
  ['api_error', 'upstream_failed'],
]);

const CODE_OF_STATUS: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [400, 'invalid_request'],
  [401, 'unauthenticated'],
  [402, 'billing'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'upstream_timeout'],
  [409, 'conflict'],
  [410, 'gone'],
  [413, 'too_large'],
  [415, 'unsupported_media_type'],
  [422, 'unprocessable'],
  [429, 'rate_limited'],
  [501, 'not_implemented'],
  [503, 'unavailable'],
  [504, 'upstream_timeout'],
  [529, 'overloaded'],
]);

const RETRYABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'rate_limited',
  'upstream_failed',
  'unavailable',
  'upstream_timeout',
  'overloaded',
]);

/** Sent as a 400 of type `invalid_request_error`, though it is about money. */
const NO_CREDIT = /credit balance is too low/i;

/** Enough for any message; it is searched for patterns, logged and sent on. */
const SHOWN_MESSAGE = 2_000;
const SHOWN_TEXT = 500;
/** Of a page, the part that is looked at for its text. */
const READ_TEXT = 20_000;

export function encodeError(error: GatewayError, requestId: string): JsonObject {
  const wire: JsonObject = { type: TYPE_OF[error.code], message: wordsOf(error) };
  if (error.detail !== undefined) wire['details'] = { error_code: error.detail };
  return { type: 'error', error: wire, request_id: requestId };
}

/** Claude Code mends its request by what the message says. */
function wordsOf({ code, status, message }: GatewayError): string {
  if (code === 'context_overflow') return promptTooLong(message);
  return code === 'invalid_request' && status === 400 ? namingCapability(message) : message;
}

/** An answer that is not 2xx. */
export function decodeError(status: number, headers: WireHeaders, body: unknown): GatewayError {
  const wire = errorObject(body);
  const said = messageOf(wire, body);
  const code = refine(
    CODE_OF_STATUS.get(status) ?? CODE_OF_TYPE.get(wire?.['type']) ?? byRange(status),
    said,
  );
  const hint = headers['x-should-retry'];
  const retryAfter = retryAfterSeconds(headers);
  const detail = detailOf(wire);
  return new GatewayError(
    code,
    said ?? `The upstream answered ${status} without a message.${status < 400 ? ' Check its base_url.' : ''}`,
    {
      // A redirect is not followed: the client could do nothing with it.
      status: status < 400 ? 502 : status,
      retryable: hint === 'true' || (hint !== 'false' && RETRYABLE.has(code)),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(detail === undefined ? {} : { detail }),
      cause: { upstreamRequestId: headers['request-id'] ?? idIn(body), type: wire?.['type'] },
    },
  );
}

/** An error inside a 200: an `error` event, or a body that is one. */
export function decodeErrorBody(body: unknown): GatewayError {
  const wire = errorObject(body);
  const said = messageOf(wire, body);
  const code = refine(CODE_OF_TYPE.get(wire?.['type']) ?? 'upstream_failed', said);
  const detail = detailOf(wire);
  return new GatewayError(code, said ?? 'The upstream failed without a message. Retry the request.', {
    retryable: RETRYABLE.has(code),
    ...(detail === undefined ? {} : { detail }),
    cause: { upstreamRequestId: idIn(body), type: wire?.['type'] },
  });
}

/** `{type: "error", error}` here, `{error}` or `{message}` from servers that only resemble this wire. */
export function errorObject(body: unknown): JsonObject | undefined {
  if (!isObject(body)) return undefined;
  if (isObject(body['error'])) return body['error'];
  if (typeof body['error'] === 'string') return { message: body['error'] };
  if (typeof body['message'] === 'string') return body;
  if (typeof body['detail'] === 'string') return { message: body['detail'] };
  return undefined;
}

function messageOf(wire: JsonObject | undefined, body: unknown): string | undefined {
  const message = wire?.['message'];
  if (typeof message === 'string' && message !== '') return message.slice(0, SHOWN_MESSAGE);
  if (typeof body !== 'string') return undefined;
  // Usually the page of a proxy in between.
  const text = body
    .slice(0, READ_TEXT)
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text === '' ? undefined : text.slice(0, SHOWN_TEXT);
}

function refine(code: ErrorCode, message: string | undefined): ErrorCode {
  if (message === undefined || (code !== 'invalid_request' && code !== 'too_large')) return code;
  if (isContextOverflow(message)) return 'context_overflow';
  return NO_CREDIT.test(message) ? 'billing' : code;
}

function byRange(status: number): ErrorCode {
  return status >= 400 && status < 500 ? 'invalid_request' : 'upstream_failed';
}

function detailOf(wire: JsonObject | undefined): string | undefined {
  const details = wire?.['details'];
  const code = isObject(details) ? details['error_code'] : undefined;
  return typeof code === 'string' ? code.slice(0, SHOWN_TEXT) : undefined;
}

function idIn(body: unknown): unknown {
  return isObject(body) ? body['request_id'] : undefined;
}
