/**
 * The things a sentence holds that a parameter could want: addresses, paths, quotations, numbers,
 * expressions, dates. A span belongs to the first kind that claims it; numbers inside an
 * expression are also given one by one, for tools that take them apart.
 */
import { findDates } from './dates.js';
import { findExpressions } from './expression.js';
import { CHINESE_NUMBER, ENGLISH_NUMBER, parseChineseNumber, parseEnglishNumber } from './number-words.js';
import { CURRENCIES, KNOWN_FILES, KNOWN_FOLDERS, LANGUAGES } from './vocabulary.js';
import { hasHan, segment, setOf } from './words.js';

export type FactKind =
  | 'url'
  | 'host'
  | 'email'
  | 'code'
  | 'quoted'
  | 'date'
  | 'time'
  | 'glob'
  | 'path'
  | 'expression'
  | 'number'
  | 'identifier'
  | 'language'
  | 'currency';

export interface Fact {
  kind: FactKind;
  text: string;
  start: number;
  end: number;
  /** Of numbers and expressions. */
  value?: number;
  /** The code of a language or currency, the ISO form of a date, the operators of an expression. */
  code?: string;
}

interface Pattern {
  kind: FactKind;
  pattern: RegExp;
  /** The group that is the fact; 0 unless said. */
  groups?: readonly number[];
  accept?(text: string): boolean;
}

const FILE_NAME = '[\\p{L}\\p{N}_.@+-]*[\\p{L}\\p{N}_]\\.[A-Za-z][A-Za-z0-9]{0,7}';
const HOST_ENDS = /\.(?:com|org|net|io|dev|edu|gov|cn|uk|de|fr|jp|ai|app|info|co)$/i;

const QUOTES: readonly Pattern[] = [
  { kind: 'code', pattern: /```(?:\w*\n)?([\s\S]+?)```/g, groups: [1] },
  { kind: 'code', pattern: /`([^`\n]+)`/g, groups: [1] },
  {
    kind: 'quoted',
    pattern: /"([^"\n]+)"|“([^”\n]+)”|「([^」\n]+)」|『([^』\n]+)』|《([^》\n]+)》|«([^»\n]+)»|„([^“\n]+)“/g,
    groups: [1, 2, 3, 4, 5, 6, 7],
  },
  { kind: 'quoted', pattern: /‘([^’\n]+)’(?!\p{L})/gu, groups: [1] },
  {
    kind: 'quoted',
    pattern: /(?<![\p{L}\p{N}])'([^'\n]+(?:'(?=\p{L})[^'\n]+)*)'(?![\p{L}\p{N}])/gu,
    groups: [1],
  },
];

const ADDRESSES: readonly Pattern[] = [
  {
    kind: 'url',
    pattern: /\b(?:https?|ftp|file|wss?):\/\/[^\s"'<>()（），。；、「」]+[^\s"'<>()（），。；、「」.,;:!?]/gi,
  },
  { kind: 'email', pattern: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g },
];

const FILES: readonly Pattern[] = [
  {
    kind: 'glob',
    pattern: /(?<![\w*])(?:[\w.~@-]*\/)*\*[\w.{},*/-]*/g,
    accept: (text) => /[./]/.test(text),
  },
  { kind: 'path', pattern: /(?<![\w/])[A-Za-z]:\\[^\s"'<>|，。]+/g },
  {
    kind: 'path',
    pattern: /(?<![\p{L}\p{N}_/.])(?:~|\.{1,2})?\/(?:[\p{L}_.@~][\p{L}\p{N}_.@+/-]*)?/gu,
    accept: (text) => text.length > 1,
  },
  {
    kind: 'path',
    pattern: /(?<![\p{L}\p{N}_/.])(?:[\p{L}\p{N}_.@+-]+\/)+[\p{L}\p{N}_.@+-]*/gu,
    accept: isRelativePath,
  },
  {
    kind: 'path',
    pattern: new RegExp(`(?<![\\p{L}\\p{N}_/.])${FILE_NAME}(?![\\p{L}\\p{N}_]|\\.\\w)`, 'gu'),
    accept: isFileName,
  },
  { kind: 'path', pattern: /(?<![\w.])\.[a-z][\w.-]+(?!\w)/g },
];

const FOLDERS = setOf(KNOWN_FOLDERS);

function isRelativePath(text: string): boolean {
  // "and/or", "km/h" and "1/2" are no paths; "src/main.ts", "docs/" and "a/b/c" are.
  return !/^\d+\//.test(text) && (/\.\w+$|\/$|\/.*\//.test(text) || FOLDERS.has(text.split('/')[0] ?? ''));
}

function isFileName(text: string): boolean {
  return !/^(?:e\.g|i\.e|a\.m|p\.m|etc|vs)$/i.test(text) && !/^\d+\.\d+$/.test(text);
}

const FILE_WORDS = new RegExp(`\\b(?:${[...setOf(KNOWN_FILES)].join('|')})\\b`, 'g');
const NUMBERS = /(?<![\p{Script=Latin}\p{N}_.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\d_]|\.\d)/gu;
const ENGLISH_NUMBERS = new RegExp(`\\b${ENGLISH_NUMBER}`, 'gi');
const CHINESE_NUMBERS = new RegExp(
  `${CHINESE_NUMBER}(?=[个次天页条人张杯份位只件本章分秒小周月年点块元行])`,
  'g',
);
const IDENTIFIERS: readonly Pattern[] = [
  { kind: 'identifier', pattern: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi },
  { kind: 'identifier', pattern: /(?<![\w&])#([\w-]+)/g, groups: [1] },
  {
    kind: 'identifier',
    pattern: /(?<![\w.-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*(?![\w-])/g,
    accept: isIdentifier,
  },
];

/** "3rd", "5pm" and "10km" are not identifiers. */
function isIdentifier(text: string): boolean {
  return text.length > 2 && !/^\d+(?:st|nd|rd|th|am|pm|[a-z]{1,3})$/i.test(text);
}

/** More than these nobody asks for at once. */
const MAX_FACTS = 200;

export function findFacts(text: string, now: Date): Fact[] {
  const facts: Fact[] = [];
  const isFree = (start: number, end: number): boolean =>
    !facts.some((fact) => fact.start < end && start < fact.end);
  const claim = (patterns: readonly Pattern[]): void => {
    for (const pattern of patterns) {
      for (const fact of matches(text, pattern)) {
        if (facts.length < MAX_FACTS && isFree(fact.start, fact.end)) facts.push(fact);
      }
    }
  };
  claim(QUOTES);
  claim(ADDRESSES);
  for (const { kind, text: written, start, end, iso } of findDates(text, now)) {
    if (isFree(start, end)) facts.push({ kind, text: written, start, end, code: iso });
  }
  claim(FILES);
  for (const match of text.matchAll(FILE_WORDS)) {
    const end = match.index + match[0].length;
    if (isFree(match.index, end)) facts.push({ kind: 'path', text: match[0], start: match.index, end });
  }
  const expressions = findExpressions(text).filter(({ start, end }) => isFree(start, end));
  claim(IDENTIFIERS);
  const numbers = findNumbers(text).filter(({ start, end }) => isFree(start, end));
  facts.push(
    ...findNamed(text, 'language', LANGUAGE_NAMES),
    ...findNamed(text, 'currency', CURRENCY_NAMES),
    ...numbers,
  );
  for (const { text: written, start, end, value, operators } of expressions) {
    facts.push({ kind: 'expression', text: written, start, end, value, code: operators.join('') });
  }
  return facts
    .slice(0, MAX_FACTS)
    .flatMap(typed)
    .sort((a, b) => a.start - b.start || b.end - a.end);
}

function* matches(text: string, { kind, pattern, groups = [0], accept }: Pattern): Generator<Fact> {
  for (const match of text.matchAll(pattern)) {
    const group = groups.find((index) => match[index] !== undefined);
    const inner = group === undefined ? undefined : match[group];
    if (inner === undefined || (accept !== undefined && !accept(inner))) continue;
    const start = match.index;
    const end = start + match[0].length;
    if (kind !== 'path') {
      yield { kind, text: inner.trim(), start, end };
      continue;
    }
    const path = withoutChineseVerb(inner);
    if (path === '') continue;
    const isHost = HOST_ENDS.test(path) && !path.includes('/');
    yield { kind: isHost ? 'host' : 'path', text: path.replace(/[.]$/, ''), start: end - path.length, end };
  }
}

/** 读取报告.txt → 报告.txt: nothing but known words stand in front of a name. */
function withoutChineseVerb(path: string): string {
  const han = /^\p{Script=Han}+/u.exec(path)?.[0];
  if (han === undefined) return path;
  let cut = 0;
  for (const part of segment(han)) {
    if (part.kind === 'unknown' || part.kind === 'place') break;
    cut = part.end;
  }
  const rest = path.slice(cut);
  return rest.startsWith('.') ? path : rest;
}

/** A quotation that is wholly a path, an address or an expression is that as well. */
function typed(fact: Fact): Fact[] {
  if (fact.kind !== 'quoted' && fact.kind !== 'code') return [fact];
  const as = (kind: FactKind): Fact[] => [fact, { ...fact, kind }];
  if (ADDRESSES.some(({ pattern }) => isWhole(fact.text, pattern))) {
    return as(fact.text.includes('://') ? 'url' : 'email');
  }
  if (
    FILES.some(
      ({ kind, pattern, accept }) =>
        kind === 'glob' && isWhole(fact.text, pattern) && (accept?.(fact.text) ?? true),
    )
  ) {
    return as('glob');
  }
  if (
    FILES.some(
      ({ kind, pattern, accept }) =>
        kind === 'path' && isWhole(fact.text, pattern) && (accept?.(fact.text) ?? true),
    )
  ) {
    return as('path');
  }
  const [expression] = findExpressions(fact.text);
  if (expression !== undefined && expression.end - expression.start === fact.text.length) {
    return [
      fact,
      { ...fact, kind: 'expression', value: expression.value, code: expression.operators.join('') },
    ];
  }
  return [fact];
}

function isWhole(text: string, pattern: RegExp): boolean {
  return [...text.matchAll(pattern)].some((match) => match.index === 0 && match[0].length === text.length);
}

function findNumbers(text: string): Fact[] {
  const numbers: Fact[] = [];
  const add = (start: number, written: string, value: number | undefined): void => {
    const end = start + written.length;
    if (value === undefined || numbers.some((each) => each.start < end && start < each.end)) return;
    numbers.push({ kind: 'number', text: written, start, end, value });
  };
  for (const match of text.matchAll(NUMBERS)) {
    // The minus of "5-3" joins two numbers, that of " -3" belongs to one.
    const joined = match[0].startsWith('-') && /[\d)]\s*$/.test(text.slice(0, match.index));
    const written = joined ? match[0].slice(1) : match[0];
    add(match.index + (joined ? 1 : 0), written, Number(written.replaceAll(',', '')));
  }
  for (const match of text.matchAll(ENGLISH_NUMBERS)) {
    if (match[0].toLowerCase() !== 'one') add(match.index, match[0], parseEnglishNumber(match[0]));
  }
  for (const match of text.matchAll(CHINESE_NUMBERS))
    add(match.index, match[0], parseChineseNumber(match[0]));
  return numbers.sort((a, b) => a.start - b.start).slice(0, MAX_FACTS / 2);
}

interface Named {
  code: string;
  pattern: RegExp;
}

/** Languages are written with a capital, currencies in any way. */
function namedPatterns(
  table: readonly (readonly [string, string])[],
  flags: string,
  codes: boolean,
): Named[] {
  return table.flatMap(([code, names]) =>
    [...setOf(names), ...(codes ? [code] : [])].map((word) => ({
      code,
      pattern: hasHan(word) ? new RegExp(word, 'g') : new RegExp(`\\b${word}\\b`, flags),
    })),
  );
}

const LANGUAGE_NAMES = namedPatterns(LANGUAGES, 'g', false);
const CURRENCY_NAMES = namedPatterns(CURRENCIES, 'gi', true);

function findNamed(text: string, kind: FactKind, names: readonly Named[]): Fact[] {
  const found: Fact[] = [];
  for (const { code, pattern } of names) {
    for (const match of text.matchAll(pattern)) {
      const start = match.index;
      const end = start + match[0].length;
      if (found.some((each) => each.start < end && start < each.end)) continue;
      found.push({ kind, text: match[0], start, end, code });
    }
  }
  return found;
}
