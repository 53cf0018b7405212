/** What all lists that come in pages have in common. */
import { GatewayError } from '../core/errors.js';

const MOST = 500;

export function pageSize(limit: number): number {
  return Math.max(1, Math.min(MOST, Math.floor(limit)));
}

export function badCursor(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'The cursor is not one of ours: take `next` of the page before.',
    {
      param: 'cursor',
    },
  );
}
