/**
 * Requests that ask for another protocol. Node hands over every one of them as soon as a server serves
 * WebSockets, also those whose clients only offer a newer HTTP beside a whole request, as Java's does.
 */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Node drops the headers behind this many, the length of the body perhaps among them. */
const MAX_HEADERS = 1000;
const OFFERS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

export const asksForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/** The request once more without its offer, which a server may ignore (RFC 9110, 7.8). */
export function ignoreUpgrade(
  server: Server,
  request: IncomingMessage,
  socket: Duplex,
  behind: Buffer,
): void {
  const { rawHeaders } = request;
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    socket.destroy();
    return;
  }
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    const lower = name.toLowerCase();
    if (OFFERS.has(lower)) continue;
    const kept = lower === 'connection' ? withoutOffers(value) : value;
    if (kept !== '' || lower !== 'connection') lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), behind]));
  server.emit('connection', socket);
}

function withoutOffers(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !OFFERS.has(option.toLowerCase())).join(', ');
}

/** Where a WebSocket is refused: Node makes no response for such a request. It ends the connection. */
export function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  response.once('finish', () => {
    response.detachSocket(socket);
    socket.end();
  });
  // Until a WebSocket takes it over, nobody else listens to it.
  socket.on('error', () => {});
  return response;
}
