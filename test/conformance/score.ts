/** Runs checks and counts them by area; what concerns every answer counts once. */
import { AREAS, type Area } from './areas.js';
import { type Check, checksOf, titleOf } from './checks.js';
import { EVERYWHERE, EVERYWHERE_RULES, type EverywhereRule } from './everywhere.js';
import type { LoadedCase } from './load.js';
import type { Outcome, Runner } from './run.js';

export interface CaseScore {
  name: string;
  title: string;
  rule: string;
  area: Area;
  checks: number;
  passed: number;
  failures: readonly Failure[];
}

interface Failure {
  title: string;
  problems: readonly string[];
}

export interface RuleScore {
  rule: EverywhereRule;
  /** In how many checks it could be judged, and in how many of them it was broken. */
  seen: number;
  broken: number;
  /** The first time. */
  problem?: string;
}

export interface Score {
  everywhere: readonly RuleScore[];
  cases: readonly CaseScore[];
}

export interface Tally {
  checks: number;
  passed: number;
}

export interface SuiteRun {
  cases: readonly LoadedCase[];
  runner: Runner;
  /** How many checks run side by side. */
  width: number;
  wanted(check: Check): boolean;
  /** Told of each case when its checks are over. */
  onCase?(score: CaseScore): void;
}

export async function scoreOf({ cases, runner, width, wanted, onCase }: SuiteRun): Promise<Score> {
  const rules = new Map<EverywhereRule, RuleScore>();
  const scores: CaseScore[] = [];
  for (const given of cases) {
    const checks = checksOf(given).filter(wanted);
    if (checks.length === 0) continue;
    const outcomes = await runChecks(checks, runner, width);
    for (const { outcome } of outcomes) addRules(rules, outcome);
    const failed = outcomes.filter(({ outcome }) => outcome.problems.length > 0);
    const { name, title, rule, area } = given;
    const failures = failed.map(({ check, outcome }) => ({
      title: `${check.variation.title} (${titleOf(check)})`,
      problems: outcome.problems,
    }));
    const passed = checks.length - failed.length;
    const score = { name, title, rule, area, checks: checks.length, passed, failures };
    scores.push(score);
    onCase?.(score);
  }
  return { everywhere: EVERYWHERE_RULES.flatMap((rule) => rules.get(rule) ?? []), cases: scores };
}

interface Ran {
  check: Check;
  outcome: Outcome;
}

/** In the order of the checks. */
async function runChecks(checks: readonly Check[], runner: Runner, width: number): Promise<Ran[]> {
  const done: Ran[] = [];
  const rest = [...checks.entries()];
  const worker = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
      const [index, check] = next;
      done[index] = { check, outcome: await runner.run(check) };
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return done;
}

function addRules(rules: Map<EverywhereRule, RuleScore>, { everywhere }: Outcome): void {
  for (const [rule, problem] of everywhere.seen) {
    const known = rules.get(rule) ?? { rule, seen: 0, broken: 0 };
    rules.set(rule, {
      ...known,
      seen: known.seen + 1,
      broken: known.broken + Number(problem !== undefined),
      ...(known.problem === undefined && problem !== undefined ? { problem } : {}),
    });
  }
}

/** One check for each rule. */
export const everywhereTally = ({ everywhere }: Score): Tally => ({
  checks: everywhere.length,
  passed: everywhere.filter(({ broken }) => broken === 0).length,
});

const add = (one: Tally, other: Tally): Tally => ({
  checks: one.checks + other.checks,
  passed: one.passed + other.passed,
});

/** Of the areas that had checks. */
export function areaTallies({ cases }: Score): { area: Area; tally: Tally }[] {
  return AREAS.map((area) => ({
    area,
    tally: cases.filter((each) => each.area === area).reduce(add, { checks: 0, passed: 0 }),
  })).filter(({ tally }) => tally.checks > 0);
}

export const totalOf = (score: Score): Tally =>
  areaTallies(score).reduce((sum, { tally }) => add(sum, tally), everywhereTally(score));

/** `71 %`; full only where everything passed. */
export function percent({ checks, passed }: Tally): string {
  return checks === 0 ? '–' : `${Math.floor((100 * passed) / checks)} %`;
}

export const EVERY_ANSWER = 'Every answer';

/** The score for a terminal. */
export function scoreLines(score: Score): string[] {
  const rows: (readonly [string, Tally])[] = [
    [EVERY_ANSWER, everywhereTally(score)],
    ...areaTallies(score).map(({ area, tally }) => [area, tally] as const),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const { checks, passed } = totalOf(score);
  return [
    ...score.everywhere.flatMap(({ rule, broken, seen, problem }) =>
      broken === 0
        ? []
        : [`FAIL ${EVERYWHERE[rule]}: not in ${broken} of ${seen} checks, such as: ${problem}`],
    ),
    ...rows.map(
      ([name, tally]) =>
        `${name.padEnd(width)}  ${percent(tally).padStart(5)}  ${tally.passed}/${tally.checks}`,
    ),
    `conformance: ${score.cases.length} cases, ${checks} checks, ${passed} passed`,
  ];
}
