/**
 * How hard a model should think, between the wires that say it in tokens (a budget), in words (an
 * effort) and in both.
 */
import type { ConversationRequest, Effort } from '../../core/conversation.js';

/** From least to most. */
export const EFFORT_ORDER: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * The largest budget that still counts as this effort. 1,024 is the least that Anthropic takes, and
 * a client that asks for it wants some thinking, so it is `low`; Claude Code's three steps (4,000,
 * 10,000 and 31,999 tokens) are low, medium and high.
 */
const BUDGET_CEILINGS: readonly { effort: Effort; upTo: number }[] = [
  { effort: 'none', upTo: 0 },
  { effort: 'minimal', upTo: 1_023 },
  { effort: 'low', upTo: 4_096 },
  { effort: 'medium', upTo: 16_384 },
  { effort: 'high', upTo: 32_768 },
  { effort: 'xhigh', upTo: 65_536 },
  { effort: 'max', upTo: Number.POSITIVE_INFINITY },
];

const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 4_096,
  medium: 16_384,
  high: 32_768,
  xhigh: 65_536,
  max: 128_000,
};

/** The smallest budget that Anthropic takes. */
export const MIN_BUDGET = 1_024;

/** `adaptive` without an effort leaves it to the model; newer OpenAI models read silence as `none`. */
const ADAPTIVE_EFFORT: Effort = 'medium';

export function effortOfBudget(budgetTokens: number): Effort {
  return BUDGET_CEILINGS.find(({ upTo }) => budgetTokens <= upTo)?.effort ?? 'max';
}

/** 0 for `none`. With `maxTokens`, at most what leaves room for an answer: a budget is part of it. */
export function budgetOfEffort(effort: Effort, maxTokens?: number): number {
  const budget = BUDGETS[effort];
  if (budget === 0 || maxTokens === undefined || budget < maxTokens) return budget;
  return Math.max(MIN_BUDGET, Math.floor(maxTokens / 2));
}

/**
 * What the request asks for in one word; undefined when it says nothing. Thinking that is turned off
 * wins over an effort (sub-agents send both), an effort wins over a budget.
 */
export function wantedEffort(request: Pick<ConversationRequest, 'thinking' | 'effort'>): Effort | undefined {
  const { thinking, effort } = request;
  if (thinking?.type === 'disabled') return 'none';
  if (effort !== undefined) return effort;
  if (thinking?.type === 'enabled') return effortOfBudget(thinking.budgetTokens);
  return thinking?.type === 'adaptive' ? ADAPTIVE_EFFORT : undefined;
}

/**
 * The nearest effort that `supported` has, the lower of two equally near; undefined when it has none.
 * Thinking that was asked for is never turned off by this while another effort is left.
 */
export function clampEffort(effort: Effort, supported: readonly Effort[]): Effort | undefined {
  if (supported.includes(effort)) return effort;
  const wanted = EFFORT_ORDER.indexOf(effort);
  let best: Effort | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of EFFORT_ORDER) {
    if (!supported.includes(candidate)) continue;
    const distance =
      candidate === 'none' ? EFFORT_ORDER.length : Math.abs(EFFORT_ORDER.indexOf(candidate) - wanted);
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}
