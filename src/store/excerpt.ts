/** A line of a text around a word in it, for people. */
import { spanOf, type TextSpan } from './fold.js';

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
