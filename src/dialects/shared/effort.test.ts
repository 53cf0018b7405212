import { describe, expect, it } from 'vitest';
import type { Effort, Thinking } from '../../core/conversation.js';
import { budgetOfEffort, clampEffort, EFFORT_ORDER, effortOfBudget, wantedEffort } from './effort.js';

describe('effortOfBudget', () => {
  it.each([
    [0, 'none'],
    [512, 'minimal'],
    [1_024, 'low'],
    [4_000, 'low'],
    [10_000, 'medium'],
    [31_999, 'high'],
    [60_000, 'xhigh'],
    [200_000, 'max'],
  ] as const)('%d tokens is %s', (budget, effort) => {
    expect(effortOfBudget(budget)).toBe(effort);
  });

  it('comes back from the budget of every effort but minimal, which Anthropic cannot say', () => {
    for (const effort of EFFORT_ORDER) {
      expect(effortOfBudget(budgetOfEffort(effort))).toBe(effort === 'minimal' ? 'low' : effort);
    }
  });
});

describe('budgetOfEffort', () => {
  it('leaves room for the answer', () => {
    expect(budgetOfEffort('high', 8_000)).toBe(4_000);
    expect(budgetOfEffort('high', 64_000)).toBe(32_768);
    expect(budgetOfEffort('none', 100)).toBe(0);
  });
});

describe('wantedEffort', () => {
  const enabled = (budgetTokens: number): Thinking => ({ type: 'enabled', budgetTokens });
  const cases: [string, { thinking?: Thinking; effort?: Effort }, Effort | undefined][] = [
    ['nothing', {}, undefined],
    ['a budget', { thinking: enabled(10_000) }, 'medium'],
    ['an effort', { effort: 'high' }, 'high'],
    ['an effort beside a budget', { thinking: enabled(1_024), effort: 'high' }, 'high'],
    ['adaptive', { thinking: { type: 'adaptive' } }, 'medium'],
    ['adaptive with an effort', { thinking: { type: 'adaptive' }, effort: 'xhigh' }, 'xhigh'],
    ['disabled', { thinking: { type: 'disabled' } }, 'none'],
    ['disabled with an effort', { thinking: { type: 'disabled' }, effort: 'max' }, 'none'],
  ];
  it.each(cases)('%s', (_name, request, effort) => {
    expect(wantedEffort(request)).toBe(effort);
  });
});

describe('clampEffort', () => {
  const cases: [Effort, Effort[], Effort | undefined][] = [
    ['high', ['low', 'medium', 'high'], 'high'],
    ['max', ['low', 'medium', 'high'], 'high'],
    ['xhigh', ['low', 'medium', 'high'], 'high'],
    ['none', ['minimal', 'low', 'high'], 'minimal'],
    ['minimal', ['none', 'low', 'high'], 'low'],
    ['medium', ['low', 'high'], 'low'],
    ['high', ['none'], 'none'],
    ['high', [], undefined],
  ];
  it.each(cases)('%s among %j is %s', (effort, supported, expected) => {
    expect(clampEffort(effort, supported)).toBe(expected);
  });
});
