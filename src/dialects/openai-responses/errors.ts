/** Errors of this wire, both ways. */
import type { ResponseErrorEvent } from 'openai/resources/responses/responses.js';
import type { JsonObject } from '../../core/conversation.js';
import type { ErrorCode, GatewayError } from '../../core/errors.js';
import type { WireHeaders } from '../shared/dialect.js';
import { wireError } from '../shared/openai-error-shape.js';

export { encodeOpenAiError as encodeError } from '../shared/openai-error-shape.js';
export { decodeOpenAiError as decodeError } from '../shared/openai-errors.js';

/** What Codex looks for in an answer that failed: by these it compacts, waits, or gives up. */
const FAILURE_CODES: Partial<Record<ErrorCode, string>> = {
  billing: 'insufficient_quota',
  context_overflow: 'context_length_exceeded',
  invalid_request: 'invalid_prompt',
  overloaded: 'server_is_overloaded',
  rate_limited: 'rate_limit_exceeded',
  too_large: 'invalid_prompt',
  unprocessable: 'invalid_prompt',
};

const CODEX = /^codex[_-]/i;

/** Codex compacts after an answer that failed so; after a status code it repeats the request. */
export function failsInAnswer(error: GatewayError, headers: WireHeaders): boolean {
  return error.code === 'context_overflow' && CODEX.test(headers['user-agent'] ?? '');
}

/** The `error` of a response that failed after it began. */
export function failureOf(error: GatewayError): { code: string; message: string } {
  const wait = error.retryAfter;
  // Codex reads how long to wait from the words.
  const hint =
    error.code === 'rate_limited' && wait !== undefined && !/try again in/i.test(error.message)
      ? ` Please try again in ${wait}s.`
      : '';
  return { code: FAILURE_CODES[error.code] ?? 'server_error', message: error.message + hint };
}

/** An `error` event. The official SDK throws for the inner object, which the API sends as well. */
export function streamError(error: GatewayError, sequence: number): ResponseErrorEvent & JsonObject {
  const inner = wireError(error);
  return {
    type: 'error',
    code: inner.code,
    message: inner.message,
    param: inner.param,
    sequence_number: sequence,
    error: inner,
  };
}
