/**
 * Files share their process. What one leaves open would be found by whichever comes next and looks:
 * it fails here, where it was left.
 */
import { afterAll } from 'vitest';
import { turnOfLoop } from './gate.js';
import { openHandles } from './handles.js';

const PATIENCE_MS = 20_000;

// Registered before those of the file, so it runs after them.
afterAll(async () => {
  const end = performance.now() + PATIENCE_MS;
  // No timer to wait with: it would be among what is waited for.
  while (openHandles().length > 0) {
    if (performance.now() > end)
      throw new Error(`Still open after the last test: ${openHandles().join(', ')}`);
    await turnOfLoop();
  }
});
