/**
 * Names in a sentence: "in New York", "for Alice", "Tokyo's weather", 北京和上海的天气. A name is what
 * stands behind a preposition, what is written with a capital, or in Chinese what is left when all
 * known words are taken away.
 */
import type { Fact } from './facts.js';
import { ARTICLES, NAME_ENDS, PREPOSITIONS, REGIONS } from './vocabulary.js';
import { hasHan, isConceptWord, isStopWord, segment, setOf } from './words.js';

export interface Name {
  text: string;
  start: number;
  end: number;
  /** The preposition in front, `proper` for a capital, `chunk` for what is left of a Chinese sentence. */
  role: string;
}

interface Token {
  text: string;
  start: number;
  end: number;
  kind: 'word' | 'mark' | 'fact';
}

const BEHIND = setOf(PREPOSITIONS);
const ENDS = setOf(NAME_ENDS);
const LEADING = setOf(ARTICLES);
const REGION_NAMES = setOf(REGIONS);
const MAX_WORDS = 6;
/** Facts that a name may not run across; a number or a language may be part of one. */
const BARRIERS: ReadonlySet<string> = new Set([
  'url',
  'host',
  'email',
  'code',
  'quoted',
  'date',
  'time',
  'glob',
  'path',
  'expression',
]);

export function findNames(text: string, facts: readonly Fact[]): Name[] {
  const tokens = tokenize(
    text,
    facts.filter((fact) => BARRIERS.has(fact.kind)),
  );
  const names: Name[] = [...behindPrepositions(text, tokens)];
  const add = (name: Name): void => {
    if (!names.some((each) => each.start < name.end && name.start < each.end)) names.push(name);
  };
  for (const name of properNames(text, tokens)) add(name);
  for (const name of chineseNames(tokens)) add(name);
  return names.sort((a, b) => a.start - b.start);
}

const WORD =
  /\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}])(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}'’-])*|[^\s]/gu;

function tokenize(text: string, barriers: readonly Fact[]): Token[] {
  const tokens: Token[] = [];
  let from = 0;
  const addWords = (to: number): void => {
    for (const match of text.slice(from, to).matchAll(WORD)) {
      const start = from + match.index;
      const kind = /[\p{L}\p{N}]/u.test(match[0]) ? 'word' : 'mark';
      tokens.push({ kind, text: match[0], start, end: start + match[0].length });
    }
  };
  for (const { text: written, start, end } of barriers) {
    if (start < from) continue;
    addWords(start);
    tokens.push({ kind: 'fact', text: written, start, end });
    from = end;
  }
  addWords(text.length);
  return tokens;
}

function* behindPrepositions(text: string, tokens: readonly Token[]): Generator<Name> {
  let at = 0;
  while (at < tokens.length) {
    const token = tokens[at];
    at += 1;
    if (token?.kind !== 'word' || !BEHIND.has(token.text.toLowerCase())) continue;
    const role = token.text.toLowerCase();
    // "in Paris, London and Tokyo": the list keeps the preposition.
    for (;;) {
      const last = nameEnd(tokens, at);
      if (last === undefined) break;
      yield nameOf(text, tokens, last.from, last.to, role);
      at = last.to;
      const next = afterConjunction(tokens, last.to);
      if (next === undefined) break;
      at = next;
    }
  }
}

/** The tokens of a name that begins at `at`, articles apart; undefined where none does. */
function nameEnd(tokens: readonly Token[], at: number): { from: number; to: number } | undefined {
  let from = at;
  while (LEADING.has(tokens[from]?.text.toLowerCase() ?? '')) from += 1;
  let to = from;
  while (to < tokens.length && to - from < MAX_WORDS && isNameWord(tokens, to, from)) to += 1;
  if (to === from || !/^\p{L}/u.test(tokens[from]?.text ?? '')) return undefined;
  // "Paris, France" and "San Francisco, CA" are one place.
  const region = tokens[to + 1];
  if (tokens[to]?.text === ',' && region !== undefined && isRegion(region.text) && !isListed(tokens, to + 2))
    to += 2;
  return { from, to };
}

function isNameWord(tokens: readonly Token[], at: number, from: number): boolean {
  const token = tokens[at];
  if (token === undefined || hasHan(token.text)) return false;
  if (token.text === '.') return /^(?:St|Mt|Dr|Mr|Ms|Mrs)$/.test(tokens[at - 1]?.text ?? '');
  if (token.kind !== 'word') return false;
  const lower = token.text.toLowerCase();
  // "Isle of Man", "Rio de Janeiro": a small word inside a name written with capitals.
  if (lower === 'of' && at > from) return isCapital(tokens[at - 1]?.text) && isCapital(tokens[at + 1]?.text);
  if (BEHIND.has(lower) || ENDS.has(lower)) return false;
  return isCapital(token.text) ? !isConceptWord(token.text) || at > from : !isConceptWord(token.text);
}

function isRegion(text: string): boolean {
  return REGION_NAMES.has(text) || /^[A-Z]{2}$/.test(text);
}

/** Another comma or an "and" follows: then the comma before was one of a list. */
function isListed(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at]?.text.toLowerCase();
  return next === ',' || next === 'and' || next === 'or' || next === '&';
}

/** Where a further name of the list begins. "and calculate", "and in Rome" begin something else. */
function afterConjunction(tokens: readonly Token[], at: number): number | undefined {
  let next = at;
  let seen = false;
  while (/^(?:,|and|or|&|vs|versus|plus|、)$/i.test(tokens[next]?.text ?? '')) {
    next += 1;
    seen = true;
  }
  const token = tokens[next];
  if (!seen || token?.kind !== 'word' || isStopWord(token.text) || isConceptWord(token.text))
    return undefined;
  return next;
}

function nameOf(text: string, tokens: readonly Token[], from: number, to: number, role: string): Name {
  const start = tokens[from]?.start ?? 0;
  const end = tokens[to - 1]?.end ?? start;
  const written = text.slice(start, end).replace(/['’]s$/, '');
  return { text: written, start, end: start + written.length, role };
}

function* properNames(text: string, tokens: readonly Token[]): Generator<Name> {
  let at = 0;
  while (at < tokens.length) {
    const from = at;
    while (isProper(tokens, at, from)) at += 1;
    if (at > from) yield nameOf(text, tokens, from, at, 'proper');
    else at += 1;
  }
}

function isProper(tokens: readonly Token[], at: number, from: number): boolean {
  const token = tokens[at];
  if (token?.kind !== 'word' || !isCapital(token.text) || isStopWord(token.text.replace(/['’]\p{L}+$/u, '')))
    return false;
  if (/^I['’]?\p{L}*$/u.test(token.text)) return false;
  if (isConceptWord(token.text) || ENDS.has(token.text.toLowerCase())) return false;
  // The word behind a possessive begins another name.
  return !(at > from && /['’]s$/.test(tokens[at - 1]?.text ?? ''));
}

function isCapital(word: string | undefined): boolean {
  return word !== undefined && /^\p{Lu}/u.test(word);
}

function* chineseNames(tokens: readonly Token[]): Generator<Name> {
  const isChinese = tokens.some((token) => hasHan(token.text));
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'word') continue;
    if (hasHan(token.text)) {
      yield* chunksOf(token);
      continue;
    }
    // A Latin word between Chinese ones is a name, whatever its case: tokyo 的天气.
    if (isChinese && /^\p{L}/u.test(token.text) && !isConceptWord(token.text) && !isStopWord(token.text)) {
      const role = roleBefore(tokens[index - 1]?.text);
      yield { text: token.text, start: token.start, end: token.end, role };
    }
  }
}

function* chunksOf(token: Token): Generator<Name> {
  let role = 'chunk';
  for (const part of segment(token.text)) {
    if (part.kind === 'place' || (part.kind === 'unknown' && part.text.length > 1)) {
      yield { text: part.text, start: token.start + part.start, end: token.start + part.end, role };
      continue;
    }
    role = part.kind === 'preposition' ? part.text : part.kind === 'conjunction' ? role : 'chunk';
  }
}

function roleBefore(text: string | undefined): string {
  if (text === undefined || !hasHan(text)) return 'chunk';
  const last = segment(text).at(-1);
  return last?.kind === 'preposition' ? last.text : 'chunk';
}
