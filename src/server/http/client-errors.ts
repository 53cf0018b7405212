/** What Node's parser could not read, or what did not come in time. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../../core/errors.js';
import { StopError } from '../../core/stopping.js';
import type { ClientConnection } from './connections.js';
import { errorShapeOf } from './error-shapes.js';

/** Answers to what never became a request: written to the socket, for there is no response to write to. */
const REQUEST_LINE = /^[A-Z]+ (\/[^\s?]*)/;

/** `packet`: what was being read, for the path in it. */
function rawAnswer(error: GatewayError, requestId: string, packet?: unknown): string {
  const head = packet instanceof Uint8Array ? Buffer.from(packet.subarray(0, 512)).toString('latin1') : '';
  const encodeError = errorShapeOf(REQUEST_LINE.exec(head)?.[1] ?? '', {});
  const body = JSON.stringify(encodeError(error, requestId));
  return [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `request-id: ${requestId}`,
    `x-request-id: ${requestId}`,
    'x-content-type-options: nosniff',
    '',
    body,
  ].join('\r\n');
}

/** Our side ends at once; what the client still sends is read for a while, so that it gets to see the answer. */
function endSocket(socket: Duplex, text: string, lingerMs: number): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(text);
  socket.resume();
}

/** Node's error with what it carries along. */
type ParserError = Error & { code?: string; rawPacket?: unknown };

export function onClientError(
  connection: ClientConnection,
  thrown: ParserError,
  requestId: string,
  lingerMs: number,
): void {
  const { exchanges, socket } = connection;
  if (connection.broken) return;
  connection.broken = true;
  // Reset by the client, or a connection that was opened in advance and never used.
  if (thrown.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
    socket.destroy();
    return;
  }
  const error = toError(thrown);
  for (const exchange of exchanges.keys()) {
    if (exchange.request.complete) continue;
    // It is the body of this request that broke; its answer says so, unless it is under way already.
    exchange.closeAfter = true;
    if (exchange.response.headersSent) socket.destroy();
    else exchange.abort(error);
    return;
  }
  connection.lastWords = rawAnswer(error, requestId, thrown.rawPacket);
  if (exchanges.size === 0) sayLastWords(connection, lingerMs);
}

/** Once everything that came before on the connection has been answered. */
export function sayLastWords({ socket, lastWords }: ClientConnection, lingerMs: number): void {
  if (lastWords !== undefined) endSocket(socket, lastWords, lingerMs);
}

/** The gateway is no proxy. */
export function refuseConnect(socket: Duplex, requestId: string, lingerMs: number): void {
  const error = new GatewayError('method_not_allowed', 'The gateway is not a proxy: CONNECT is refused.');
  endSocket(socket, rawAnswer(error, requestId), lingerMs);
}

function toError(thrown: ParserError): StopError {
  switch (thrown.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new StopError('request-broken', 'timeout', 'The request did not arrive in time. Send it again.');
    case 'HPE_HEADER_OVERFLOW':
      return new StopError(
        'request-broken',
        'invalid_request',
        'The headers are too large. Send fewer or shorter ones.',
        {
          status: 431,
        },
      );
    case 'HPE_INVALID_EOF_STATE':
      return new StopError(
        'request-broken',
        'invalid_request',
        'The request ended before it was whole. Send all of it.',
      );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new StopError('request-broken', 'too_large', 'The chunk extensions are too large. Send none.');
    default:
      return new StopError('request-broken', 'invalid_request', 'This is not a valid HTTP request.');
  }
}
