/** Node turns a longer delay into one millisecond. */
const MAX_DELAY_MS = 2_147_483_647;

/** Nothing for a limit that is no limit: zero, infinite, or beyond what a timer can count. */
export function startTimer(ms: number, fire: () => void): NodeJS.Timeout | undefined {
  return ms > 0 && ms <= MAX_DELAY_MS ? setTimeout(fire, ms) : undefined;
}
