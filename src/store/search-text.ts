/**
 * What a person can look for in an entry of a transcript: what was said, and what tools were asked to
 * do. How it is compared: without case, accents and forms of the same letter, in any language. And the
 * line around what was found.
 */
import { isObject } from '../core/is-object.js';

/**
 * More of one entry is not looked through: a pasted log, a file that is written whole. A secret that is
 * not longer than `secretChars` is redacted also where a text is cut in the middle of it.
 */
export const SPOKEN_LIMITS = { entryChars: 65_536, inputChars: 4096, secretChars: 16_384 };

type Redact = (text: string) => string;

/**
 * Texts of the user and the assistant, names of tools and the texts in their input, redacted. Not
 * results, not thinking, not instructions. Empty for entries that say nothing.
 */
export function spokenIn(entry: unknown, redact: Redact): string {
  const message = isObject(entry) && entry['kind'] === 'message' ? entry['message'] : undefined;
  if (!isObject(message) || (message['role'] !== 'user' && message['role'] !== 'assistant')) return '';
  const { content } = message;
  if (!Array.isArray(content)) return '';
  const pieces: string[] = [];
  let left = SPOKEN_LIMITS.entryChars;
  for (const block of content) {
    if (left <= 0) break;
    const piece = cut(pieceOf(block, redact), left, redact);
    if (piece === '') continue;
    pieces.push(piece);
    left -= piece.length + 1;
  }
  return redact(pieces.join('\n'));
}

function pieceOf(block: unknown, redact: Redact): string {
  if (!isObject(block)) return '';
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? block['text'] : '';
    case 'document':
      return typeof block['title'] === 'string' ? block['title'] : '';
    case 'tool_use':
      return [String(block['name']), ...textsIn(block['input'], redact)].join(' ');
    default:
      return '';
  }
}

/** The texts in it, in order. Keys belong to the tool's schema, no one said them. */
function textsIn(input: unknown, redact: Redact): string[] {
  const texts: string[] = [];
  const open: unknown[] = [input];
  let left = SPOKEN_LIMITS.inputChars;
  while (open.length > 0 && left > 0) {
    const value = open.pop();
    if (typeof value === 'string') {
      texts.push(cut(value, left, redact));
      left -= value.length + 1;
    } else if (typeof value === 'object' && value !== null) {
      open.push(...Object.values(value).slice(0, SPOKEN_LIMITS.inputChars).reverse());
    }
  }
  return texts;
}

/** Redacted before it is cut: half a secret has no shape to be known by. */
function cut(text: string, most: number, redact: Redact): string {
  if (text.length <= most) return text;
  const { secretChars } = SPOKEN_LIMITS;
  const window = text.slice(0, most + secretChars);
  const redacted = redact(window);
  // What the end of the window cuts in half is not redacted, and is not taken either.
  const whole = window.length < text.length ? redacted.length - secretChars : redacted.length;
  return redacted.slice(0, Math.max(0, Math.min(most, whole)));
}

/** Where something is in a text; offsets of UTF-16, as in JavaScript. */
interface TextSpan {
  from: number;
  to: number;
}

/** More of a query is not looked for. */
const QUERY_LIMITS = { chars: 500, words: 16 };

const ASCII = /^[\0-\x7f]*$/;
const ACCENTS = /[\u0300-\u036f]/g;

/** Text as it is compared. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  // Upper first: ß and ss, ſ and s, ς and σ are the same; a sigma at the end of a word is written as ς again.
  return text.normalize('NFKD').replace(ACCENTS, '').toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** What a query asks for: pieces between spaces, whatever is in them, folded. */
export function foldedWords(query: string): string[] {
  const words = query.slice(0, QUERY_LIMITS.chars).split(/\s+/u).map(fold);
  return [...new Set(words)].filter((word) => word !== '').slice(0, QUERY_LIMITS.words);
}

/** Folding takes as long for one character as for many: a place is looked for in steps, then in one of them. */
const STEP = 512;

/** Where a folded word is in a text that is not folded. */
export function spanOf(text: string, word: string): TextSpan | undefined {
  const start = fold(text).indexOf(word);
  if (start < 0) return undefined;
  const end = start + word.length;
  if (ASCII.test(text)) return { from: start, to: end };
  // A character may fold to none or to several: `folded` counts what those in front of `offset` fold to.
  let offset = 0;
  let folded = 0;
  for (;;) {
    const next = stepFrom(text, offset);
    const length = fold(text.slice(offset, next)).length;
    if (folded + length > start || next === text.length) break;
    folded += length;
    offset = next;
  }
  let from = offset;
  for (const character of text.slice(offset)) {
    if (folded <= start) from = offset;
    folded += fold(character).length;
    offset += character.length;
    if (folded >= end) break;
  }
  return { from, to: behindAccents(text, offset) };
}

/** Not through the middle of a character. */
function stepFrom(text: string, offset: number): number {
  const next = Math.min(text.length, offset + STEP);
  return (text.codePointAt(next - 1) ?? 0) > 0xffff ? next + 1 : next;
}

/** They belong to the character in front of them. */
function behindAccents(text: string, at: number): number {
  let end = at;
  while (end < text.length && text.slice(end, end + 1).search(ACCENTS) === 0) end += 1;
  return end;
}

/** A line of a text around a word in it, for people. */
export interface Excerpt extends TextSpan {
  text: string;
}

const AROUND = { before: 40, after: 120 };
const CUT = '…';
/** Where the cut went through one; a language without spaces has none. */
const PART_OF_WORD = { first: /^\S{0,20} /, last: / \S{0,20}$/ };

/** `word` is folded. Where it cannot be found the excerpt is the beginning, and nothing in it is marked. */
export function excerptOf(text: string, word: string): Excerpt {
  const place = spanOf(text, word);
  const { from, to } = place ?? { from: 0, to: 0 };
  const start = Math.max(0, from - AROUND.before);
  const end = Math.min(text.length, to + AROUND.after);
  const lead = oneLine(withoutHalf(text.slice(start, from)));
  const found = oneLine(text.slice(from, to));
  const rest = oneLine(withoutHalf(text.slice(to, end)));
  const before = start > 0 ? CUT + lead.replace(PART_OF_WORD.first, '') : lead.trimStart();
  const after = end < text.length ? rest.replace(PART_OF_WORD.last, '') + CUT : rest.trimEnd();
  return { text: before + found + after, from: before.length, to: before.length + found.length };
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ');
}

/** A character outside the first plane is two units: one of them alone is none. */
function withoutHalf(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
