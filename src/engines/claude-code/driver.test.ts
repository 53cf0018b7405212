import { expect, it } from 'vitest';
import { processBudget } from './driver.js';

it.each([
  [1, 1, 0],
  [2, 2, 0],
  [3, 2, 1],
  [8, 6, 2],
  [100, 98, 2],
])('of %i processes, %i are for conversations and %i wait for one', (maxLive, conversations, spares) => {
  expect(processBudget(maxLive)).toEqual({ conversations, spares });
});
