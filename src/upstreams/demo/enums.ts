/** Choosing among the values of an `enum`, and yes or no, by what the sentence mentions. */
import { type Ask, factsOf } from './ask.js';
import { featuresOf, hasHan, splitIdentifier, stem } from './words.js';

/** Other words for values that schemas often list. */
const SYNONYMS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    celsius: /°\s?c|centigrade|摄氏/i,
    c: /celsius|°\s?c|摄氏/i,
    fahrenheit: /°\s?f|华氏/i,
    f: /fahrenheit|°\s?f|华氏/i,
    metric: /celsius|公制|摄氏/i,
    imperial: /fahrenheit|英制|华氏/i,
    high: /urgent|important|高|紧急/i,
    medium: /normal|中等/i,
    low: /低|不急/i,
    on: /turn\s+on|switch\s+on|打开|开启/i,
    off: /turn\s+off|switch\s+off|关闭|关掉/i,
    asc: /ascending|升序/i,
    desc: /descending|降序/i,
    daily: /every\s+day|each\s+day|每天|每日/i,
    weekly: /every\s+week|每周/i,
    monthly: /every\s+month|每月/i,
    day: /天|日/,
    week: /周|星期/,
    month: /月/,
    add: /\bplus\b|\bsum\b|加/i,
    subtract: /\bminus\b|减/i,
    multiply: /\btimes\b|乘/i,
    divide: /\bdivided\b|除/i,
  }),
);

const OPERATOR_CONCEPTS: Readonly<Record<string, string>> = {
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
};

/** The value that the ask mentions; undefined where it mentions none. */
export function mentionedValue(values: readonly unknown[], ask: Ask): unknown {
  return (
    values.find((value) => isMentioned(value, ask)) ??
    byOperator(values, ask) ??
    byCode(values, ask) ??
    byConcept(values, ask)
  );
}

function isMentioned(value: unknown, ask: Ask): boolean {
  if (typeof value === 'number') return factsOf(ask, 'number').some((fact) => fact.value === value);
  if (typeof value !== 'string') return false;
  if (SYNONYMS.get(value.toLowerCase())?.test(ask.text) === true) return true;
  if (hasHan(value)) return ask.text.includes(value);
  const words = splitIdentifier(value).map((word) => word.replace(/[^\p{L}\p{N}]/gu, ''));
  if (words.length === 0) return false;
  // A single letter is only meant where it is written as the schema writes it.
  const [pattern, flags] = value.length === 1 ? [value, 'u'] : [`${words.join('[\\s_-]?')}s?`, 'iu'];
  return new RegExp(`(?<![\\p{L}\\p{N}'’])${pattern}(?![\\p{L}\\p{N}'’])`, flags).test(ask.text);
}

function byOperator(values: readonly unknown[], ask: Ask): unknown {
  const sign = factsOf(ask, 'expression')[0]?.code?.charAt(0) ?? '';
  const concept = OPERATOR_CONCEPTS[sign];
  return values.find(
    (value) => value === sign || (concept !== undefined && strongFeatures(value).includes(concept)),
  );
}

function byCode(values: readonly unknown[], ask: Ask): unknown {
  const codes = factsOf(ask, 'language', 'currency').map((fact) => fact.code?.toLowerCase());
  return values.find((value) => codes.includes(String(value).toLowerCase()));
}

function byConcept(values: readonly unknown[], ask: Ask): unknown {
  const about = featuresOf(ask.text);
  return values.find((value) => {
    const own = strongFeatures(value);
    return own.length > 0 && own.every((feature) => about.get(feature) === 1);
  });
}

function strongFeatures(value: unknown): string[] {
  if (typeof value !== 'string') return [];
  return [...featuresOf(splitIdentifier(value).join(' '))]
    .filter(([, strength]) => strength === 1)
    .map(([feature]) => feature);
}

const NEGATION =
  /(?:\b(?:no|not|non|without|don['’]?t|do\s+not|disable[ds]?|off|skip|never)\b|不要?|无需?|关闭|禁用|别)\s*\S{0,12}\s*$/i;
const EMPTY_WORDS = new Set([
  'is',
  'has',
  'be',
  'enable',
  'enabled',
  'use',
  'include',
  'should',
  'with',
  'allow',
  'flag',
]);

/** Undefined where the ask says nothing of it. */
export function mentionedFlag(words: ReadonlySet<string>, ask: Ask): boolean | undefined {
  const named = [...words].filter((word) => !EMPTY_WORDS.has(word) && word.length > 2);
  const found = [...ask.text.matchAll(/[A-Za-z]+/g)].map((match) => ({
    word: stem(match[0]),
    at: match.index,
  }));
  // "recursive" and "recursively" are one; "replace all" needs both words.
  const places = named.map(
    (own) => found.find(({ word }) => word === own || (own.length > 4 && word.startsWith(own)))?.at,
  );
  const [first] = places;
  if (first === undefined || places.includes(undefined)) return undefined;
  return !NEGATION.test(ask.text.slice(0, first));
}
