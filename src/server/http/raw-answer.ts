/** Answers to what never became a request: written to the socket, for there is no response to write to. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GatewayError } from '../../core/errors.js';
import { errorShapeOf } from './error-shapes.js';

const REQUEST_LINE = /^[A-Z]+ (\/[^\s?]*)/;

/** `packet`: what was being read, for the path in it. */
export function rawAnswer(error: GatewayError, requestId: string, packet?: unknown): string {
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
export function endSocket(socket: Duplex, text: string, lingerMs: number): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(text);
  socket.resume();
}
