/** Text as it is compared in a search: without case, accents and forms of the same letter; in any language. */

/** Where something is in a text; offsets of UTF-16, as in JavaScript. */
export interface TextSpan {
  from: number;
  to: number;
}

/** More of a query is not looked for. */
const QUERY_LIMITS = { chars: 500, words: 16 };

const ASCII = /^[\0-\x7f]*$/;
const ACCENTS = /[\u0300-\u036f]/g;

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
