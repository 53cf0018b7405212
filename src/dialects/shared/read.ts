/**
 * Readers for bodies that came over the wire. Decoding and checking are one pass: a body of 50 KB
 * is on the hot path, and a second walk by a schema library costs more than the decoding itself.
 * Each throws GatewayError `invalid_request` that names the path and what was expected.
 */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';

export function fail(path: string, expected: string, value: unknown): never {
  const where = path === '' ? 'the body' : path;
  throw new GatewayError('invalid_request', `${where}: expected ${expected}, got ${nameOf(value)}`, {
    param: path,
  });
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') {
    const shown = value.length > 40 ? `${value.slice(0, 40)}…` : value;
    return `the string ${JSON.stringify(shown)}`;
  }
  if (typeof value === 'object') return 'an object';
  return `${typeof value} ${String(value)}`;
}

export function readObject(value: unknown, path: string): JsonObject {
  return isObject(value) ? value : fail(path, 'an object', value);
}

export function readArray(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : fail(path, 'an array', value);
}

export function readString(value: unknown, path: string): string {
  return typeof value === 'string' ? value : fail(path, 'a string', value);
}

export function readNonEmpty(value: unknown, path: string): string {
  return typeof value === 'string' && value !== '' ? value : fail(path, 'a non-empty string', value);
}

export function readNumber(value: unknown, path: string, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  return fail(path, `a number from ${min} to ${max}`, value);
}

export function readInteger(value: unknown, path: string, min: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min) return value;
  return fail(path, `a whole number of at least ${min}`, value);
}

export function readBoolean(value: unknown, path: string): boolean {
  return typeof value === 'boolean' ? value : fail(path, 'true or false', value);
}

export function readOneOf<T extends string>(value: unknown, path: string, known: readonly T[]): T {
  const found = known.find((each) => each === value);
  return found ?? fail(path, `one of ${known.map((each) => JSON.stringify(each)).join(', ')}`, value);
}

/** No request has more of anything that is counted. Sums of larger figures would not be whole numbers. */
const MOST_COUNTED = 1_000_000_000;

/** A count of an upstream; undefined for anything else, because it cannot be added up. */
export function countOf(value: unknown): number | undefined {
  const isCount = typeof value === 'number' && Number.isSafeInteger(value);
  return isCount && value >= 0 && value <= MOST_COUNTED ? value : undefined;
}

/** `undefined` and `null` are both "not given": clients send either. */
export function optional<T>(
  value: unknown,
  path: string,
  read: (value: unknown, path: string) => T,
): T | undefined {
  return value === undefined || value === null ? undefined : read(value, path);
}
