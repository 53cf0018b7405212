/** What the failure of one upstream says about asking another. */
import type { GatewayError } from '../core/errors.js';

/**
 * This upstream will not serve the request, but another may: it is down or answers with something that is
 * no answer; or the key is wrong, there is no such model, no credit.
 */
export function mayFallBack(error: GatewayError): boolean {
  if (error.retryable) return true;
  // A bug in the gateway fails the same way everywhere.
  const isOwn = error.code === 'internal' && error.cause !== undefined;
  return ELSEWHERE.has(error.status) || (error.status >= 500 && !isOwn);
}

const ELSEWHERE = new Set([401, 402, 403, 404, 408, 425, 429]);

/** There is no such model, or none for this account: nothing about requests for another. */
export const isAboutRequest = ({ status }: GatewayError): boolean => status === 403 || status === 404;
