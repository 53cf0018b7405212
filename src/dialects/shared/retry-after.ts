import type { WireHeaders } from './dialect.js';

/** Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or a date); undefined without either. */
export function retryAfterSeconds(headers: WireHeaders, now: number = Date.now()): number | undefined {
  const ms = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (Number.isFinite(ms) && ms >= 0) return ms / 1000;
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}
