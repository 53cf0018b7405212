/** The clients that `npm test` installs. */
import { findTestClient, howToGetClient, TEST_CLIENTS } from '../../scripts/test-clients.mjs';

export function clientProgram(name: string): string {
  const found = findTestClient(name);
  if (found !== undefined) return found;
  const advice = TEST_CLIENTS.filter((client) => client.name === name).map(howToGetClient);
  throw new Error(`${name} is not installed: ${advice.join()}`);
}
