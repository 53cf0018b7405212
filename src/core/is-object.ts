import type { JsonObject } from './conversation.js';

/** Of a value that was JSON: neither a list nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lists as well: what has fields. */
export function isObjectOrList(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}
