/**
 * Writes whole answers: JSON, errors, bytes. Streams are in sse-writer.ts. Every failure answers in the
 * shape that the client's own library reads.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { PROOF_HEADER } from '../../cluster/forward-claim.js';
import type { JsonObject } from '../../core/conversation.js';
import { BUDGET_UNKNOWN, type GatewayError } from '../../core/errors.js';
import { anthropicMessages } from '../../dialects/anthropic-messages/index.js';
import { openaiChat } from '../../dialects/openai-chat/index.js';
import type { Dialect } from '../../dialects/shared/dialect.js';
import type { EncodeError, Exchange } from './exchange.js';

/** What is about a person's own things is kept nowhere. */
export const NO_STORE = { 'cache-control': 'no-store' } as const;

/** On every answer. */
export function baseHeaders(exchange: Exchange): Record<string, string> {
  const headers: Record<string, string> = {
    'request-id': exchange.id,
    'x-request-id': exchange.id,
    'x-content-type-options': 'nosniff',
  };
  if (exchange.traced) headers['x-toolgate-trace'] = exchange.id;
  if (exchange.closeAfter) headers['connection'] = 'close';
  if (exchange.forwarded !== undefined) headers[PROOF_HEADER] = exchange.forwarded.proof;
  return headers;
}

export function sendJson(
  exchange: Exchange,
  status: number,
  body: object,
  headers: OutgoingHttpHeaders = {},
): void {
  sendText(exchange, status, 'application/json', JSON.stringify(body), headers);
}

export function sendText(
  exchange: Exchange,
  status: number,
  contentType: string,
  text: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const { response } = exchange;
  response.writeHead(status, {
    ...baseHeaders(exchange),
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  exchange.recorder?.emitted(text);
  // Node itself leaves the body out of an answer to HEAD.
  response.end(text);
}

/** An answer without a body. */
export function sendStatus(exchange: Exchange, status: number, headers: OutgoingHttpHeaders = {}): void {
  exchange.response.writeHead(status, {
    ...baseHeaders(exchange),
    ...(status === 204 || status === 304 ? {} : { 'content-length': 0 }),
    ...headers,
  });
  exchange.response.end();
}

/**
 * In the shape of the exchange. `lingerMs`: the client may still be sending; a connection that is
 * closed under it is reset, and the reset can overtake the answer. So the answer goes out whole,
 * what still comes is thrown away for a while, and only then the connection ends.
 */
export function sendError(
  exchange: Exchange,
  error: GatewayError,
  lingerMs: number,
  headers: OutgoingHttpHeaders = {},
): void {
  const { socket } = exchange.request;
  const lingers = exchange.closeAfter && !exchange.request.complete && !socket.readableEnded;
  if (!lingers) {
    sendJson(exchange, error.status, exchange.encodeError(error, exchange.id), {
      ...sessionHeaders(exchange),
      ...errorHeaders(error),
      ...headers,
    });
    return;
  }
  const { request, response } = exchange;
  const text = JSON.stringify(exchange.encodeError(error, exchange.id));
  response.writeHead(error.status, {
    ...baseHeaders(exchange),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...sessionHeaders(exchange),
    ...errorHeaders(error),
    ...headers,
  });
  response.write(text);
  const end = () => {
    clearTimeout(timer);
    request.off('end', end).off('close', end);
    socket.off('end', end);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.on('end', end).on('close', end).resume();
  // The parser may have given up on the request; then only the socket reports its end.
  socket.on('end', end);
}

/** Of a conversation that was there before: one that was begun for the request may be gone with it. */
function sessionHeaders({ announced }: Exchange): Readonly<Record<string, string>> {
  return announced['x-toolgate-attach'] === 'continue' ? announced : {};
}

export function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.retryAfter !== undefined)
    headers['retry-after'] = String(Math.max(0, Math.ceil(error.retryAfter)));
  if (error.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer realm="toolgate"';
  if (isLasting(error)) headers['x-should-retry'] = 'false';
  if (error.detail === BUDGET_UNKNOWN) headers['x-toolgate-budget'] = 'unknown; denied';
  if (error.resetAt !== undefined) {
    // Claude Code shows its user from these when it may go on.
    headers['anthropic-ratelimit-unified-status'] = 'rejected';
    headers['anthropic-ratelimit-unified-reset'] = String(error.resetAt);
    headers['anthropic-ratelimit-unified-overage-reset'] = String(error.resetAt);
    headers['anthropic-ratelimit-unified-overage-utilization'] = '1';
    headers['anthropic-ratelimit-unified-overage-surpassed-threshold'] = '1';
    headers['anthropic-ratelimit-unified-overage-disabled-reason'] = 'org_spend_cap_reached';
  }
  return headers;
}

/**
 * The official clients retry every 5xx, 409 and 429, and Claude Code a 401 for minutes. Neither a key nor a
 * budget nor a conflict gets better by itself, but for a busy session.
 */
function isLasting({ code, detail, retryable }: GatewayError): boolean {
  if (code === 'not_implemented' || code === 'billing' || code === 'unauthenticated') return true;
  return code === 'conflict' && !retryable && detail !== 'session_busy';
}

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
