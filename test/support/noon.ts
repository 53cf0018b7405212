/** Days, hours and months as gateways in this process see them: no test runs over the end of one. */
import { afterEach, beforeEach, vi } from 'vitest';

/** In the middle of an hour, a day, a week and a month. Only the date is set; timers run as ever. */
export const NOON = new Date('2026-10-14T12:30:00Z');

export function atNoon(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOON });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}
