/** JSON as the store writes it. */
import { createHash } from 'node:crypto';

/** Takes secrets out of every text in a JSON value. Text by text: the shape stays valid. */
export function redactJson(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactJson(item, redact));
  if (typeof value !== 'object' || value === null) return value;
  const copy: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) copy.push([redact(key), redactJson(item, redact)]);
  return Object.fromEntries(copy);
}

/** The same for two values that differ only in the order of keys. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
