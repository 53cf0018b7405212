/** What the server refuses whatever was asked for, and why it ends what has begun. */
import { GatewayError } from '../../core/errors.js';
import { StopError } from '../../core/stopping.js';

const DRAIN_RETRY_AFTER_S = 5;

export function shuttingDown(): StopError {
  return new StopError(
    'gateway-stops',
    'unavailable',
    'The gateway is shutting down. Send the request again.',
    {
      retryAfter: DRAIN_RETRY_AFTER_S,
      retryable: true,
      detail: 'gateway_stops',
    },
  );
}

/** `url`: where everybody is. */
export function notHere(url: string): GatewayError {
  return new GatewayError(
    'forbidden',
    `Only workers of the gateway are answered here. Its address is ${url}.`,
  );
}

export function keyGone(): StopError {
  return new StopError(
    'client-gone',
    'unauthenticated',
    'The key has expired or been revoked. Come back with one that holds.',
  );
}
