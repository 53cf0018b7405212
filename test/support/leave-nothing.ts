/**
 * Files share their process. What one leaves open would be found by whichever comes next and looks:
 * it fails here, where it was left.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll } from 'vitest';
import { turnOfLoop } from './gate.js';
import { openHandles } from './handles.js';

const PATIENCE_MS = 20_000;
const COLLECT_MS = 1_000;
const EAGER_TURNS = 200;
const LOOK_MS = 2;
const NEVER = new Int32Array(new SharedArrayBuffer(4));

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Of a file before this one, which has been told. */
let before = 0;

beforeAll(() => {
  before = openHandles().length;
});

// Registered before those of the file, so it runs after them.
afterAll(async () => {
  const end = performance.now() + PATIENCE_MS;
  let collectAt = performance.now() + COLLECT_MS;
  // No timer to wait with: it would be among what is waited for. First at once, then without taking the
  // core from the others: what ends late waits for another process.
  let turns = 0;
  while (openHandles().length > before) {
    if (performance.now() > end)
      throw new Error(`Still open after the last test: ${openHandles().join(', ')}`);
    await turnOfLoop();
    turns += 1;
    if (turns > EAGER_TURNS) Atomics.wait(NEVER, 0, 0, LOOK_MS);
    // The connection of an answer that nobody read ends with the answer.
    if (performance.now() < collectAt) continue;
    collectGarbage();
    collectAt += COLLECT_MS;
  }
});
