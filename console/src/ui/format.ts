/** Numbers and times in the language of the page. Components that call these use `useText` or `useLanguage`. */
import { langTag, language } from '../text/language.js';

const cache = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>();

function numbers(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const tag = langTag(language());
  const key = `n${tag}${JSON.stringify(options)}`;
  const known = cache.get(key);
  if (known instanceof Intl.NumberFormat) return known;
  const made = new Intl.NumberFormat(tag, options);
  cache.set(key, made);
  return made;
}

function dates(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const tag = langTag(language());
  const key = `d${tag}${JSON.stringify(options)}`;
  const known = cache.get(key);
  if (known instanceof Intl.DateTimeFormat) return known;
  const made = new Intl.DateTimeFormat(tag, options);
  cache.set(key, made);
  return made;
}

export function formatNumber(value: number): string {
  return numbers({}).format(value);
}

/** 950, 12.3K, 1.2M; 1.2万 in Chinese. */
export function formatTokens(value: number): string {
  return value < 10_000
    ? numbers({}).format(value)
    : numbers({ notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

/** `unknown` where no price is known: that is not the same as free. */
export function formatUsd(value: number | null | undefined, unknown = '–'): string {
  if (value === null || value === undefined) return unknown;
  const digits = value === 0 || Math.abs(value) >= 1 ? 2 : 4;
  return numbers({
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(value);
}

export function formatPercent(share: number): string {
  return numbers({ style: 'percent', maximumFractionDigits: 1 }).format(share);
}

/** 850 ms, 12.3 s, 4 min 5 s, 2 h 3 min, 3 d 4 h. */
export function formatDuration(ms: number): string {
  const value = Math.max(0, ms);
  if (value < 1000) return unit(Math.round(value), 'millisecond');
  if (value < 59_950) return unit(Math.round(value / 100) / 10, 'second');
  const seconds = Math.round(value / 1000);
  if (seconds < 3600) return two(Math.floor(seconds / 60), 'minute', seconds % 60, 'second');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 24 * 60) return two(Math.floor(minutes / 60), 'hour', minutes % 60, 'minute');
  const hours = Math.floor(minutes / 60);
  return two(Math.floor(hours / 24), 'day', hours % 24, 'hour');
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? unit(large, largeUnit) : `${unit(large, largeUnit)} ${unit(small, smallUnit)}`;
}

function unit(value: number, of: string): string {
  return numbers({ style: 'unit', unit: of, unitDisplay: 'short', maximumFractionDigits: 1 }).format(value);
}

const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes);
  let size: (typeof SIZES)[number] = 'byte';
  for (const larger of SIZES.slice(1)) {
    if (value < 1000) break;
    value /= 1000;
    size = larger;
  }
  return unit(value < 10 ? Math.round(value * 10) / 10 : Math.round(value), size);
}

export type Moment = string | number | Date;

/** Today the time alone, else with its day; `full` names everything, for titles. */
export function formatTime(at: Moment, style: 'short' | 'full' = 'short'): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  if (style === 'full') return dates({ dateStyle: 'full', timeStyle: 'long' }).format(date);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return dates({ timeStyle: 'medium' }).format(date);
  const sameYear = date.getFullYear() === now.getFullYear();
  return dates({
    ...(sameYear ? {} : { year: 'numeric' }),
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  }).format(date);
}

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

/** "5 minutes ago", "in 2 hours"; "now" within a second. */
export function formatRelative(at: Moment, now: number = Date.now()): string {
  const tag = langTag(language());
  const key = `r${tag}`;
  const known = cache.get(key);
  const format =
    known instanceof Intl.RelativeTimeFormat
      ? known
      : new Intl.RelativeTimeFormat(tag, { numeric: 'auto', style: 'short' });
  cache.set(key, format);
  const difference = new Date(at).getTime() - now;
  if (Number.isNaN(difference)) return String(at);
  for (const [name, size] of STEPS) {
    if (Math.abs(difference) >= size) return format.format(Math.trunc(difference / size), name);
  }
  return format.format(0, 'second');
}
