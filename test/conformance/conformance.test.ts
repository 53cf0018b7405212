/** Every case file on this gateway. `npm run test:conformance` runs the same on any other. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checksOf, checksOfVariation, titleOf } from './checks.js';
import { loadCases, loadElsewhere } from './load.js';
import { type OwnGateway, startOwnGateway } from './own-gateway.js';

const FIRST = 2;
const LAST = 78;

const cases = loadCases();
const total = cases.flatMap(checksOf).length;
let own: OwnGateway;
let passed = 0;

beforeAll(async () => {
  own = await startOwnGateway(cases);
});

afterAll(async () => {
  await own.close();
  console.log(`conformance: ${cases.length} cases, ${total} checks, ${passed} passed`);
});

describe.each(cases)('$name: $title', (given) => {
  it.each(given.variations)('$title', async (variation) => {
    const checks = checksOfVariation(given, variation);
    const results = await Promise.all(
      checks.map(async (check) => {
        const { problems, everywhere } = await own.runner.run(check);
        return { check, problems: [...problems, ...everywhere.problems] };
      }),
    );
    passed += results.filter(({ problems }) => problems.length === 0).length;
    const failures = results.flatMap(({ check, problems }) =>
      problems.map((problem) => `${titleOf(check)}: ${problem}`),
    );
    expect(failures).toEqual([]);
    expect(checks).not.toEqual([]);
  });
});

describe('the list of protocol cases', () => {
  it('is covered, each number once', () => {
    const here = cases.flatMap(({ number }) => (number === undefined ? [] : [number]));
    const elsewhere = loadElsewhere().map(({ number }) => number);
    const all = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index);
    expect([...here, ...elsewhere].toSorted((one, other) => one - other)).toEqual(all);
  });

  it('names tests that exist for what is not here', () => {
    const tests = loadElsewhere().flatMap((each) => each.tests);
    expect(tests.filter((path) => !existsSync(path))).toEqual([]);
  });
});
