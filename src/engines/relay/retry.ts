/** When a failed model call is worth another try, where, and after how long. */
import { GatewayError } from '../../core/errors.js';

/** All tries of one request together. */
export const RETRY_BUDGET_MS = 10_000;
const FIRST_DELAY_MS = 400;
const LONGEST_DELAY_MS = 4_000;

const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529]);
/** This upstream will not serve the request, but the next of the list may: wrong key, no such model, no credit. */
const ELSEWHERE = new Set([401, 402, 403, 404]);

export function isRetryable(error: GatewayError): boolean {
  return error.retryable || (isFromUpstream(error) && RETRYABLE.has(error.status));
}

export function mayFallBack(error: GatewayError): boolean {
  return isRetryable(error) || ELSEWHERE.has(error.status);
}

/** A bug in the gateway fails the same way everywhere. */
function isFromUpstream(error: GatewayError): boolean {
  return error.code !== 'internal' || error.cause === undefined;
}

/**
 * Milliseconds to wait before round `round` (0 is the first retry). `retry-after` is obeyed; from the
 * second round on no wait is shorter than ours, or an upstream that says 0 would be asked without pause.
 */
export function retryDelay(round: number, error: GatewayError, random: () => number = Math.random): number {
  const full = Math.min(FIRST_DELAY_MS * 2 ** round, LONGEST_DELAY_MS);
  if (error.retryAfter !== undefined) return Math.max(error.retryAfter * 1000, round === 0 ? 0 : full / 2);
  return full / 2 + (full / 2) * random();
}

/** Resolves after `ms`, or rejects at once when `signal` fires. */
export function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(clientGone());
    };
    if (signal.aborted) {
      reject(clientGone());
      return;
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

export function clientGone(): GatewayError {
  return new GatewayError('client_closed', 'The client closed the connection.');
}
