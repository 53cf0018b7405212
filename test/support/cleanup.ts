/** Whatever a test opens is closed when the test is over, also when it fails. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, TestRunner } from 'vitest';

/**
 * Runs `close` after the current test. Called outside a test (in `beforeAll`, or a script) it does
 * nothing: the caller closes.
 */
export function closeAfterTest(close: () => unknown): void {
  if (TestRunner.getCurrentTest() === undefined) return;
  onTestFinished(async () => {
    await close();
  });
}

export interface TempFolder {
  path: string;
  remove(): Promise<void>;
}

/** A folder of its own, removed after the test. */
export async function tempFolder(name = 'toolgate-test'): Promise<TempFolder> {
  const path = await mkdtemp(join(tmpdir(), `${name}-`));
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 });
  closeAfterTest(remove);
  return { path, remove };
}
