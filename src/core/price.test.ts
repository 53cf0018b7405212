import { expect, it } from 'vitest';
import { costOf } from './price.js';

it('counts each kind of token at its own price', () => {
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 100_000,
    cacheReadTokens: 10_000,
    cacheWriteTokens: 1000,
    // Part of the output: not counted twice.
    reasoningTokens: 50_000,
  };
  expect(costOf(usage, { input: 3, output: 10, cacheRead: 0.5, cacheWrite: 4 })).toBeCloseTo(
    3 + 1 + 0.005 + 0.004,
    9,
  );
});
