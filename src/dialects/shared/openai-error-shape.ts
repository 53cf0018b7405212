/** Errors as the OpenAI wires show them to a client. */
import type { JsonObject } from '../../core/conversation.js';
import type { ErrorCode, GatewayError } from '../../core/errors.js';

interface WireError {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

interface WireWords {
  type: string;
  code: string | null;
}

const WORDS: Readonly<Record<ErrorCode, WireWords>> = {
  invalid_request: { type: 'invalid_request_error', code: null },
  unauthenticated: { type: 'authentication_error', code: 'invalid_api_key' },
  billing: { type: 'insufficient_quota', code: 'insufficient_quota' },
  forbidden: { type: 'permission_error', code: 'permission_denied' },
  not_found: { type: 'invalid_request_error', code: 'not_found' },
  method_not_allowed: { type: 'invalid_request_error', code: 'method_not_supported' },
  timeout: { type: 'server_error', code: 'timeout' },
  conflict: { type: 'invalid_request_error', code: 'conflict' },
  gone: { type: 'invalid_request_error', code: 'gone' },
  too_large: { type: 'invalid_request_error', code: 'request_too_large' },
  unsupported_media_type: { type: 'invalid_request_error', code: 'unsupported_media_type' },
  unprocessable: { type: 'invalid_request_error', code: 'unprocessable_entity' },
  rate_limited: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  client_closed: { type: 'invalid_request_error', code: 'client_closed_request' },
  internal: { type: 'server_error', code: 'internal_error' },
  not_implemented: { type: 'server_error', code: 'not_implemented' },
  upstream_failed: { type: 'server_error', code: 'upstream_error' },
  unavailable: { type: 'server_error', code: 'service_unavailable' },
  upstream_timeout: { type: 'server_error', code: 'upstream_timeout' },
  overloaded: { type: 'server_error', code: 'overloaded' },
  context_overflow: { type: 'invalid_request_error', code: 'context_length_exceeded' },
  unknown_tool_call: { type: 'invalid_request_error', code: 'unknown_tool_call' },
};

/** Codes whose own word may be replaced by a provider's finer one; the others are what clients look for. */
const REFINED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'forbidden',
  'not_found',
  'conflict',
  'unprocessable',
]);

export function encodeOpenAiError(error: GatewayError): JsonObject {
  return { error: wireError(error) };
}

export function wireError(error: GatewayError): WireError {
  const { type, code } = WORDS[error.code];
  const param = error.param === undefined || error.param === '' ? null : error.param;
  return { message: error.message, type, param, code: finerCode(error, param) ?? code };
}

function finerCode(error: GatewayError, param: string | null): string | undefined {
  if (!REFINED.has(error.code)) return undefined;
  if (error.detail !== undefined) return error.detail;
  return error.code === 'not_found' && param === 'model' ? 'model_not_found' : undefined;
}
