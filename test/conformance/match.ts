/**
 * Partial comparison. Objects may have more keys than expected, arrays have the same length, and an
 * object with one `$…` key is a matcher:
 *
 * `$any` something is there · `$absent` nothing is · `$exact` equal in every key · `$contains` text
 * with this part, or these · `$lacks` text without it · `$match` a regular expression · `$gt` and `$lt` a
 * larger or smaller number · `$length` of an array or text · `$json` text that is JSON and matches · `$some` an
 * array with an element for each of these · `$same` equal to every other place of that name.
 */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../support/violation.js';

/** What `$same` has seen so far, by name. */
export type Bindings = Map<string, unknown>;

/** Why `actual` does not match, each reason with its path; empty when it does. */
export function mismatches(
  actual: unknown,
  expected: unknown,
  path: string,
  bindings: Bindings = new Map(),
): string[] {
  const matcher = matcherOf(expected);
  if (matcher !== undefined) return matcher.match(actual, path, bindings);
  if (Array.isArray(expected)) return arrayMismatches(actual, expected, path, bindings);
  if (isRecord(expected)) {
    if (!isRecord(actual)) return [differs(path, actual, expected)];
    return Object.entries(expected).flatMap(([key, value]) =>
      mismatches(actual[key], value, `${path}.${key}`, bindings),
    );
  }
  return Object.is(actual, expected) ? [] : [differs(path, actual, expected)];
}

function arrayMismatches(
  actual: unknown,
  expected: readonly unknown[],
  path: string,
  bindings: Bindings,
): string[] {
  if (!Array.isArray(actual)) return [differs(path, actual, expected)];
  if (actual.length !== expected.length) {
    return [`${path} has ${actual.length} elements and not ${expected.length}: ${shown(actual)}`];
  }
  return expected.flatMap((each, index) => mismatches(actual[index], each, `${path}.${index}`, bindings));
}

interface Matcher {
  match(actual: unknown, path: string, bindings: Bindings): string[];
}

type Compare = (actual: unknown, wanted: unknown, bindings: Bindings, path: string) => string[] | boolean;

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

const COMPARE: Readonly<Record<string, Compare>> = {
  $any: (actual) => actual !== undefined && actual !== null,
  $absent: (actual) => actual === undefined,
  $exact: (actual, wanted) => isDeepStrictEqual(actual, wanted),
  $contains: (actual, wanted) =>
    typeof actual === 'string' && list(wanted).every((part) => actual.includes(String(part))),
  $lacks: (actual, wanted) =>
    typeof actual === 'string' && list(wanted).every((part) => !actual.includes(String(part))),
  $match: (actual, wanted) => typeof actual === 'string' && new RegExp(String(wanted)).test(actual),
  $gt: (actual, wanted) => typeof actual === 'number' && actual > Number(wanted),
  $lt: (actual, wanted) => typeof actual === 'number' && actual < Number(wanted),
  $length: (actual, wanted) =>
    (typeof actual === 'string' || Array.isArray(actual)) && actual.length === wanted,
  $json: (actual, wanted, bindings, path) => {
    if (typeof actual !== 'string') return false;
    try {
      return mismatches(JSON.parse(actual), wanted, `${path}(parsed)`, bindings);
    } catch {
      return false;
    }
  },
  $some: (actual, wanted, bindings, path) =>
    Array.isArray(actual) &&
    list(wanted).every((each) =>
      actual.some((element) => mismatches(element, each, path, bindings).length === 0),
    ),
  $same: (actual, wanted, bindings) => {
    const name = String(wanted);
    if (!bindings.has(name)) bindings.set(name, actual);
    return actual !== undefined && isDeepStrictEqual(bindings.get(name), actual);
  },
};

export function isMatcher(expected: unknown): expected is Readonly<Record<string, unknown>> {
  return isRecord(expected) && Object.keys(expected).some((key) => key.startsWith('$'));
}

function matcherOf(expected: unknown): Matcher | undefined {
  if (!isMatcher(expected)) return undefined;
  const entries = Object.entries(expected);
  return {
    match(actual, path, bindings) {
      return entries.flatMap(([key, wanted]) => {
        const compare = COMPARE[key];
        if (compare === undefined) throw new Error(`${key} is no matcher (at ${path})`);
        const result = compare(actual, wanted, bindings, path);
        if (Array.isArray(result)) return result;
        return result ? [] : [differs(path, actual, { [key]: wanted })];
      });
    },
  };
}

const SHOWN = 500;

export function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

function differs(path: string, actual: unknown, expected: unknown): string {
  return `${path} is ${shown(actual)} and not ${shown(expected)}`;
}

/** What stands at a dotted path; `*` in it is every element. Empty where nothing does. */
export function at(value: unknown, path: string): unknown[] {
  let found: unknown[] = [value];
  for (const key of path.split('.')) {
    found = found.flatMap((each) => {
      if (key === '*') return Array.isArray(each) ? each : isRecord(each) ? Object.values(each) : [];
      if (Array.isArray(each)) return Number(key) in each ? [each[Number(key)]] : [];
      return isRecord(each) && key in each ? [each[key]] : [];
    });
  }
  return found;
}
