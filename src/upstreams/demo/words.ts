/** Texts as words: languages, stems, identifiers, Chinese segmentation, and the concepts they name. */
import {
  CONCEPTS,
  PHRASES,
  STOP_WORDS,
  ZH_CONJUNCTIONS,
  ZH_FILLERS,
  ZH_PLACES,
  ZH_PREPOSITIONS,
  ZH_SINGLES,
  ZH_TIMES,
} from './vocabulary.js';

export type Language = 'en' | 'zh';

export const setOf = (words: string): ReadonlySet<string> =>
  new Set(words.split(/\s+/).filter((word) => word !== ''));

const STOPS = setOf(STOP_WORDS);
const HAN = /\p{Script=Han}/u;
const KANA_OR_HANGUL = /[\u3040-\u30ff\uac00-\ud7af]/;

/** Chinese where Han characters outnumber Latin words; texts with kana are not Chinese. */
export function languageOf(text: string): Language {
  let han = 0;
  let latin = 0;
  for (const _ of text.matchAll(/\p{Script=Han}/gu)) han += 1;
  if (han === 0 || KANA_OR_HANGUL.test(text)) return 'en';
  for (const _ of text.matchAll(/[A-Za-z]{2,}/g)) latin += 1;
  return han >= latin ? 'zh' : 'en';
}

export function hasHan(text: string): boolean {
  return HAN.test(text);
}

/** `readFile_v2` → read, file, v2. */
export function splitIdentifier(name: string): string[] {
  if (/^[a-z]+$/.test(name)) return [name];
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

/** A rough stem: the tables and the texts are cut the same way, so it need not be a word. */
export function stem(word: string): string {
  const lower = word.toLowerCase().replace(/['’]s$/, '');
  if (lower.length <= 3 || lower === 'news') return lower;
  if (lower.endsWith('ies') && lower.length > 4) return `${lower.slice(0, -3)}y`;
  if (lower.endsWith('ing') && lower.length > 5) return undouble(lower.slice(0, -3));
  if (lower.endsWith('ed') && lower.length > 4) return undouble(lower.slice(0, -2));
  if (/(?:ss|us|is)$/.test(lower)) return lower;
  if (/(?:ch|sh|x|s|z)es$/.test(lower)) return lower.slice(0, -2);
  if (lower.endsWith('s')) return undouble(lower.slice(0, -1));
  return undouble(lower);
}

/** `running` → `runn` → `run`; `calculate` and `calculating` both → `calculat`. */
function undouble(word: string): string {
  if (word.endsWith('e')) return word.slice(0, -1);
  const last = word.at(-1);
  return word.length > 3 && last === word.at(-2) && last !== 'l' && last !== 's' ? word.slice(0, -1) : word;
}

export function isStopWord(word: string): boolean {
  return STOPS.has(word.toLowerCase());
}

/** In capitals it is a mark in code, not a list of things to do. */
const MARKER = 'TODO';

interface Meaning {
  concept: string;
  strength: number;
}

const WEAK = 0.4;

const MEANINGS = new Map<string, Meaning[]>();
for (const { id, strong, weak = '' } of CONCEPTS) {
  const add = (words: string, strength: number): void => {
    for (const word of setOf(words)) {
      const key = hasHan(word) ? word : stem(word);
      const known = MEANINGS.get(key) ?? [];
      if (!known.some((meaning) => meaning.concept === id)) known.push({ concept: id, strength });
      MEANINGS.set(key, known);
    }
  };
  add(strong, 1);
  add(weak, WEAK);
}

/** True where a word alone asks for something ("weather", "translate", 计算). */
export function isConceptWord(word: string): boolean {
  if (word === MARKER) return false;
  const meanings = MEANINGS.get(hasHan(word) ? word : stem(word));
  return meanings?.some((meaning) => meaning.strength === 1) ?? false;
}

/** What a text is about: concepts and stems, each with how sure it is (0 to 1). */
export type Features = Map<string, number>;

const HAS_PHRASE = new RegExp(PHRASES.map(([pattern]) => pattern.source).join('|'), 'i');

export function featuresOf(text: string): Features {
  const features: Features = new Map();
  let plain = text;
  if (HAS_PHRASE.test(text)) for (const [pattern, word] of PHRASES) plain = plain.replace(pattern, word);
  for (const match of plain.matchAll(/[A-Za-z][A-Za-z'’]*|\d*\p{Script=Han}[\p{Script=Han}]*/gu)) {
    if (hasHan(match[0])) addChinese(features, match[0]);
    else if (match[0] === MARKER) raise(features, '=todo', 1);
    else if (/^[a-z]+$/.test(match[0])) addWord(features, match[0]);
    else for (const word of splitIdentifier(match[0].replace(/['’]s$/, ''))) addWord(features, word);
  }
  return features;
}

function addWord(features: Features, word: string): void {
  const key = stem(word);
  const meanings = MEANINGS.get(key);
  if (meanings === undefined) {
    if (!STOPS.has(word) && word.length > 1) raise(features, `=${key}`, 1);
    return;
  }
  for (const { concept, strength } of meanings) raise(features, concept, strength);
}

function addChinese(features: Features, text: string): void {
  for (const part of segment(text)) {
    for (const { concept, strength } of MEANINGS.get(part.text) ?? []) raise(features, concept, strength);
    if (part.kind !== 'unknown' && part.kind !== 'place') continue;
    for (let at = 0; at + 2 <= part.text.length; at++)
      raise(features, `=${part.text.slice(at, at + 2)}`, 0.7);
  }
}

function raise(features: Features, key: string, strength: number): void {
  features.set(key, Math.max(features.get(key) ?? 0, strength));
}

/** `unknown` and `place` are content, all others are the words around it. */
export type SegmentKind = 'concept' | 'filler' | 'preposition' | 'time' | 'conjunction' | 'place' | 'unknown';

export interface Segment {
  kind: SegmentKind;
  text: string;
  start: number;
  end: number;
}

const SINGLES = setOf(ZH_SINGLES);
const DICTIONARY = new Map<string, SegmentKind>();

function define(words: Iterable<string>, kind: SegmentKind): void {
  for (const word of words) {
    if (hasHan(word) || word === '、') if (word.length > 1 || SINGLES.has(word)) DICTIONARY.set(word, kind);
  }
}

define(MEANINGS.keys(), 'concept');
define(setOf(ZH_TIMES), 'time');
define(setOf(ZH_PREPOSITIONS), 'preposition');
define(setOf(ZH_FILLERS), 'filler');
define(setOf(ZH_CONJUNCTIONS), 'conjunction');
define(setOf(ZH_PLACES), 'place');

const LONGEST = Math.max(...[...DICTIONARY.keys()].map((word) => word.length));

/** Cuts Chinese by the longest known word; what lies between is `unknown`: names, topics. */
export function segment(text: string): Segment[] {
  const parts: Segment[] = [];
  let unknownFrom = -1;
  const flush = (end: number): void => {
    if (unknownFrom < 0) return;
    parts.push({ kind: 'unknown', text: text.slice(unknownFrom, end), start: unknownFrom, end });
    unknownFrom = -1;
  };
  let at = 0;
  while (at < text.length) {
    const word = knownWordAt(text, at);
    if (word === undefined) {
      if (unknownFrom < 0) unknownFrom = at;
      at += 1;
      continue;
    }
    flush(at);
    parts.push({ kind: DICTIONARY.get(word) ?? 'filler', text: word, start: at, end: at + word.length });
    at += word.length;
  }
  flush(text.length);
  return parts;
}

function knownWordAt(text: string, at: number): string | undefined {
  for (let length = Math.min(LONGEST, text.length - at); length > 0; length--) {
    const word = text.slice(at, at + length);
    if (DICTIONARY.has(word)) return word;
  }
  return undefined;
}
