/** Which request a client means when it sends one again. */
import type { IncomingHttpHeaders } from 'node:http';
import type { DialectName } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import { digestOf } from '../../store/json.js';

export const IDEMPOTENCY_HEADER = 'idempotency-key';

/** Visible ASCII: two headers of the name arrive joined by a comma and a space. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** Throws `invalid_request` for a key that cannot be kept. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers[IDEMPOTENCY_HEADER];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw new GatewayError(
    'invalid_request',
    'Idempotency-Key: expected one key of 1 to 255 visible ASCII characters, such as a UUID.',
    { param: 'Idempotency-Key', detail: 'invalid_idempotency_key' },
  );
}

/** The same for bodies that ask for the same answer: how it is sent is no part of it. The same words to two sessions are two requests. */
export function requestDigest(dialect: DialectName, body: unknown, session?: string): string {
  const place = session === undefined ? [dialect] : [dialect, session];
  if (!isObject(body)) return digestOf([...place, body]);
  const { stream: _stream, stream_options: _options, ...asked } = body;
  return digestOf([...place, asked]);
}
