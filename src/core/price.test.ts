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

it('counts all of a request at the other price once its prompt is longer than the bound', () => {
  const price = {
    ...{ input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
    long: { above: 100, input: 2, output: 3, cacheRead: 4, cacheWrite: 5 },
  };
  const usage = { inputTokens: 50, outputTokens: 1000, cacheReadTokens: 30, cacheWriteTokens: 20 };
  expect(costOf(usage, price)).toBeCloseTo(1100 / 1e6, 12);
  expect(costOf({ ...usage, inputTokens: 51 }, price)).toBeCloseTo((102 + 3000 + 120 + 100) / 1e6, 12);
});
