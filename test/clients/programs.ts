/** The programs that `npm test` brings: clients, and what their tests need of the system. */
import { findTestClient, howToGetClient, TEST_CLIENTS } from '../../scripts/test-clients.mjs';
import { findTestProgram, howToGet, TEST_PROGRAMS } from '../../scripts/test-programs.mjs';

export function clientProgram(name: string): string {
  const advice = TEST_CLIENTS.filter((client) => client.name === name).map(howToGetClient);
  return found(name, findTestClient(name), advice);
}

export function systemProgram(name: string): string {
  const advice = TEST_PROGRAMS.filter((program) => program.name === name).map(howToGet);
  return found(name, findTestProgram(name), advice);
}

function found(name: string, path: string | undefined, advice: readonly string[]): string {
  if (path === undefined) throw new Error(`${name} is not installed: ${advice.join()}`);
  return path;
}
