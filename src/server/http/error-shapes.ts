/** Every failure answers in the shape that the client's own library reads. */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../core/conversation.js';
import type { GatewayError } from '../../core/errors.js';
import { anthropicMessages } from '../../dialects/anthropic-messages/index.js';
import { openaiChat } from '../../dialects/openai-chat/index.js';
import type { Dialect } from '../../dialects/shared/dialect.js';

export type EncodeError = (error: GatewayError, requestId: string) => JsonObject;

/** Where no dialect is spoken: `/api`, the console, health. */
const encodeApiError: EncodeError = (error, requestId) => ({
  error: {
    type: error.code,
    message: error.message,
    param: error.param ?? null,
    code: error.detail ?? null,
  },
  request_id: requestId,
});

export function errorsOf({ ingress }: Dialect): EncodeError {
  return (error, requestId) => ingress.encodeError(error, requestId);
}

/** The `detail` of an error about bytes that are no JSON. */
export const PARSE_ERROR = 'parse_error';

/** Codes of JSON-RPC and, below -32000, those that the official SDK uses. */
const RPC_CODES: Readonly<Partial<Record<GatewayError['code'], number>>> = {
  invalid_request: -32600,
  not_found: -32001,
  internal: -32603,
};
const RPC_OTHER = -32000;
const RPC_PARSE = -32700;

/** Without an id: nothing of the request was looked at, or it was about all of it. */
const encodeRpcError = (error: GatewayError, requestId: string): JsonObject => ({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: error.detail === PARSE_ERROR ? RPC_PARSE : (RPC_CODES[error.code] ?? RPC_OTHER),
    message: error.message,
    data: { type: error.code, request_id: requestId },
  },
});

const ANTHROPIC = errorsOf(anthropicMessages);
const OPENAI = errorsOf(openaiChat);

/** The shape for a path, whether or not a route of its own serves it. */
export function errorShapeOf(path: string, headers: IncomingHttpHeaders): EncodeError {
  if (path === '/mcp' || path.startsWith('/mcp/')) return encodeRpcError;
  if (path !== '/v1' && !path.startsWith('/v1/')) return encodeApiError;
  const isMessages = path === '/v1/messages' || path.startsWith('/v1/messages/');
  return isMessages || headers['anthropic-version'] !== undefined ? ANTHROPIC : OPENAI;
}
