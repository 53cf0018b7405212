/** Every failure answers in the shape that the client's own library reads. */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../core/conversation.js';
import type { GatewayError } from '../../core/errors.js';
import { anthropicMessages } from '../../dialects/anthropic-messages/index.js';
import { openaiChat } from '../../dialects/openai-chat/index.js';
import type { Dialect } from '../../dialects/shared/dialect.js';
import { encodeRpcError } from '../mcp-api/rpc-errors.js';

export type EncodeError = (error: GatewayError, requestId: string) => JsonObject;

/** Where no dialect is spoken: `/api`, the console, health. */
export const encodeApiError: EncodeError = (error, requestId) => ({
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

const ANTHROPIC = errorsOf(anthropicMessages);
const OPENAI = errorsOf(openaiChat);

/** The shape for a path, whether or not a route of its own serves it. */
export function errorShapeOf(path: string, headers: IncomingHttpHeaders): EncodeError {
  if (path === '/mcp' || path.startsWith('/mcp/')) return encodeRpcError;
  if (path !== '/v1' && !path.startsWith('/v1/')) return encodeApiError;
  const isMessages = path === '/v1/messages' || path.startsWith('/v1/messages/');
  return isMessages || headers['anthropic-version'] !== undefined ? ANTHROPIC : OPENAI;
}
