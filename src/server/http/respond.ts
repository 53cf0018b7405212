/** Writes whole answers: JSON, errors, bytes. Streams are in sse-writer.ts. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../core/errors.js';
import type { Exchange } from './exchange.js';

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

function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.retryAfter !== undefined)
    headers['retry-after'] = String(Math.max(0, Math.ceil(error.retryAfter)));
  if (error.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer realm="toolgate"';
  if (isLasting(error)) headers['x-should-retry'] = 'false';
  return headers;
}

/** The official clients retry every 5xx and every 409. Of these only a busy session gets better by itself. */
function isLasting({ code, detail, retryable }: GatewayError): boolean {
  if (code === 'not_implemented') return true;
  return code === 'conflict' && !retryable && detail !== 'session_busy';
}
