/** What an upstream says about the limits of the credential that asked it. */
import type { WireHeaders } from '../../dialects/shared/dialect.js';
import { retryAfterSeconds } from '../../dialects/shared/retry-after.js';

/**
 * Seconds until a limit that is used up is whole again, from Anthropic's `anthropic-ratelimit-*` or the
 * `x-ratelimit-*` of the others; undefined where nothing is used up. The longest, where there are several.
 */
export function spentForSeconds(headers: WireHeaders, now: number): number | undefined {
  let longest: number | undefined;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !isUsedUp(name, value)) continue;
    const seconds = resetOf(headers[resetNameOf(name)], now);
    if (seconds !== undefined) longest = Math.max(longest ?? 0, seconds);
  }
  return longest;
}

/** Of a 429: what the upstream asks for, else what its limits say; undefined where it says neither. */
export function limitedForSeconds(headers: WireHeaders, now: number): number | undefined {
  return retryAfterSeconds(headers, now) ?? spentForSeconds(headers, now);
}

const REMAINING = /^(?:anthropic-ratelimit-[a-z-]+-remaining|x-ratelimit-remaining(?:-[a-z-]+)?)$/;
const UNIFIED_STATUS = 'anthropic-ratelimit-unified-status';

function isUsedUp(name: string, value: string): boolean {
  if (name === UNIFIED_STATUS) return value === 'rejected';
  return REMAINING.test(name) && value.trim() !== '' && Number(value) <= 0;
}

/** `anthropic-ratelimit-tokens-reset` for `…-remaining`, `x-ratelimit-reset-tokens` for `x-ratelimit-remaining-tokens`. */
function resetNameOf(name: string): string {
  return name.replace(/-status$|-remaining$/, '-reset').replace('-remaining-', '-reset-');
}

/** Above these a number is a time since 1970, in seconds or milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;
const DURATION =
  /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;
const UNIT_SECONDS = [86_400, 3_600, 60, 1, 0.001];

/** A date, a time since 1970, seconds, or a duration such as `6m0s` and `17ms`. */
function resetOf(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (text === '') return undefined;
  const number = Number(text);
  if (Number.isFinite(number)) {
    if (number >= EPOCH_MS) return Math.max(0, (number - now) / 1000);
    return Math.max(0, number >= EPOCH_SECONDS ? number - now / 1000 : number);
  }
  const units = DURATION.exec(text)?.slice(1);
  if (units !== undefined) {
    return units.reduce((sum, each, index) => sum + Number(each ?? 0) * (UNIT_SECONDS[index] ?? 0), 0);
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}
