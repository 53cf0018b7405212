/** What tokens cost, in US dollars for a million of them. */
import type { Usage } from './conversation.js';

interface Rates {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export interface Price extends Rates {
  /** Of a request whose prompt has more tokens than `above`, for all of it. */
  long?: Rates & { above: number };
}

const MILLION = 1_000_000;

export function costOf(usage: Usage, { long, ...price }: Price): number {
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const rates = long !== undefined && prompt > long.above ? long : price;
  return (
    (usage.inputTokens * rates.input +
      usage.outputTokens * rates.output +
      usage.cacheReadTokens * rates.cacheRead +
      usage.cacheWriteTokens * rates.cacheWrite) /
    MILLION
  );
}
