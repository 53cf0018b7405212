/** Waiting for what another process or another request brings about, where nothing tells of it. */
import { setTimeout as pause } from 'node:timers/promises';

const EVERY_MS = 20;
/** Shorter than a test may take, so that it is said what did not come. */
const PATIENCE_MS = 50_000;

/**
 * What `look` finds, once that is something other than `undefined` or `false`. Between two looks the
 * machine is left to what is waited for; a loop without a pause would take the time from it.
 */
export async function until<Found>(
  look: () => Found | undefined | false | Promise<Found | undefined | false>,
): Promise<Found> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`It did not come in ${PATIENCE_MS / 1000} s: ${look}`);
    await pause(EVERY_MS);
  }
}
