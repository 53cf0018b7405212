import { expect, it } from 'vitest';
import { FloodBrake } from './flood-brake.js';

it('leaves a server unread for the rest of the window, and then no more', () => {
  let now = 0;
  const brake = new FloodBrake({ floodBytes: 100, floodWindowMs: 1000 }, () => now);
  expect(brake.take(100)).toBe(0);
  now = 400;
  expect(brake.take(1)).toBe(600);
  now = 1000;
  expect(brake.take(50)).toBe(0);
});
