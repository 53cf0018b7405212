/** Text as it is compared in a search: without case, accents and forms of the same letter; in any language. */

/** Where something is in a text; offsets of UTF-16, as in JavaScript. */
export interface Place {
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

/** Where a folded word is in a text that is not folded. */
export function placeOf(text: string, word: string): Place | undefined {
  if (ASCII.test(text)) {
    const from = text.toLowerCase().indexOf(word);
    return from < 0 ? undefined : { from, to: from + word.length };
  }
  // A character may fold to none or to several: `at` has, for each of those, where it came from.
  const at: number[] = [];
  let folded = '';
  let offset = 0;
  for (const character of text) {
    const piece = fold(character);
    for (let index = 0; index < piece.length; index++) at.push(offset);
    folded += piece;
    offset += character.length;
  }
  const start = folded.indexOf(word);
  const from = at[start];
  if (start < 0 || from === undefined) return undefined;
  const last = at[start + word.length - 1] ?? from;
  return { from, to: endOfCharacter(text, last) };
}

/** With the accents that belong to it. */
function endOfCharacter(text: string, at: number): number {
  let end = at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
  while (end < text.length && text.slice(end, end + 1).search(ACCENTS) === 0) end += 1;
  return end;
}
