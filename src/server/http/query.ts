/** Readers for query strings; each throws `invalid_request` that names the parameter. */
import { GatewayError } from '../../core/errors.js';

export function readInteger(
  query: URLSearchParams,
  name: string,
  range: { default: number; min: number; max: number },
): number {
  const text = query.get(name);
  if (text === null) return range.default;
  const value = Number(text);
  if (/^-?\d+$/.test(text) && value >= range.min && value <= range.max) return value;
  throw new GatewayError(
    'invalid_request',
    `${name}: expected a whole number from ${range.min} to ${range.max}.`,
    { param: name },
  );
}

/** An ISO date or time, or milliseconds since the epoch. */
export function readTime(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isSafeInteger(value)) return value;
  throw new GatewayError(
    'invalid_request',
    `${name}: expected a time like 2026-01-31T12:00:00Z, or milliseconds since 1970.`,
    { param: name },
  );
}

/** `1` or `true`; left out, `0` or `false` is off. */
export function readSwitch(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text === null || text === '0' || text === 'false') return false;
  if (text === '1' || text === 'true') return true;
  throw new GatewayError('invalid_request', `${name}: expected 1 or 0.`, { param: name });
}

/** Comma-separated. */
export function readList<T extends string>(
  query: URLSearchParams,
  name: string,
  known: readonly T[],
  fallback: readonly T[],
): readonly T[] {
  const text = query.get(name);
  if (text === null) return fallback;
  return text.split(',').map((part) => {
    const found = known.find((each) => each === part.trim());
    if (found !== undefined) return found;
    throw new GatewayError('invalid_request', `${name}: expected a list of ${known.join(', ')}.`, {
      param: name,
    });
  });
}
