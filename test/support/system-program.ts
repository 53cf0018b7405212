/** The programs of the system that `npm test` brings: their paths, or what to do. */
import { findTestProgram, howToGet, TEST_PROGRAMS } from '../../scripts/test-programs.mjs';

export function systemProgram(name: string): string {
  const found = findTestProgram(name);
  if (found !== undefined) return found;
  const advice = TEST_PROGRAMS.filter((program) => program.name === name).map(howToGet);
  throw new Error(`${name} is not installed: ${advice.join()}`);
}
