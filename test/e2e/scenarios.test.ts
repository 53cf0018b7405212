/** What each built-in does to a real folder. One folder of test/scenarios for each behaviour. */
import { describe, expect, it } from 'vitest';
import { readScenarios, runScenario } from '../support/scenarios.js';

const FEWEST = 150;
const scenarios = await readScenarios();

describe('scenarios', () => {
  it(`are at least ${FEWEST}`, () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(FEWEST);
  });

  it('have numbers of their own', () => {
    const numbers = scenarios.map(({ number }) => number);
    expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
  });
});

describe.concurrent('scenario', () => {
  it.for(scenarios.map((scenario) => [`${scenario.name}: ${scenario.title}`, scenario] as const))(
    '%s',
    async ([name, scenario], { expect: check }) => {
      check((await runScenario(scenario)).join('\n\n'), name).toBe('');
    },
  );
});
