/** Lists of items, as `/v1/responses` and `/v1/conversations` page them. */
import type { JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { readInteger } from '../../http/read-request.js';

const PAGE = { default: 20, min: 1, max: 100 } as const;
const ENCRYPTED = 'reasoning.encrypted_content';

/** `items` in the order in which they were said. Throws `invalid_request` for a wrong query. */
export function pageOf(items: readonly JsonObject[], query: URLSearchParams): JsonObject {
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') {
    throw new GatewayError('invalid_request', 'order: expected "asc" or "desc".', { param: 'order' });
  }
  const ordered = order === 'desc' ? items.toReversed() : items;
  const after = query.get('after');
  const from = after === null ? 0 : ordered.findIndex((item) => item['id'] === after) + 1;
  if (after !== null && from === 0) {
    throw new GatewayError('invalid_request', 'after: expected the id of an item in this list.', {
      param: 'after',
    });
  }
  const limit = readInteger(query, 'limit', PAGE);
  return listOf(ordered.slice(from, from + limit), from + limit < ordered.length);
}

export function listOf(data: readonly JsonObject[], more = false): JsonObject {
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: more,
  };
}

export function wantsEncrypted(query: URLSearchParams): boolean {
  return [...query.getAll('include'), ...query.getAll('include[]')].includes(ENCRYPTED);
}
