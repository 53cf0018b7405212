/** The clients that `npm test` brings. */
import { findTestClient, howToGetClient, TEST_CLIENTS } from '../../scripts/test-clients.mjs';

export function clientProgram(name: string): string {
  const advice = TEST_CLIENTS.filter((client) => client.name === name).map(howToGetClient);
  const path = findTestClient(name);
  if (path === undefined) throw new Error(`${name} is not installed: ${advice.join()}`);
  return path;
}
