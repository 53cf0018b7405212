/**
 * Characters that show nothing, or that change the order in which others are shown, made visible: a
 * command or a file name must look like what it is.
 */
interface Piece {
  text: string;
  /** Stands for a character that cannot be seen. */
  hidden: boolean;
}

const HIDDEN_RANGES: readonly (readonly [from: number, to: number])[] = [
  // C0 controls but for tab and line feed, delete, C1 controls.
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  // Soft hyphen, grapheme joiner, Arabic letter mark.
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  // Fillers of Hangul and Khmer, selectors of Mongolian.
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  // Zero width and bidi marks; separators and bidi embeddings; invisible operators and bidi isolates.
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  // Byte order mark, half-width filler, interlinear annotation.
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  // Tags and the supplement of variation selectors.
  [0xe0000, 0xe0fff],
];

const HIDDEN = new RegExp(
  `[${HIDDEN_RANGES.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join('')}]`,
  'gu',
);

/** A joiner between two pictures makes one of them: that one is seen. */
const JOINED =
  /(?<=\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)\u200d(?=\p{Extended_Pictographic})/gu;
const KEEP = '\u{f0000}';

/** More pieces than anyone looks at would only make the page slow; the rest is replaced all the same. */
const MOST_PIECES = 2000;

/** Consecutive pieces; put together they are the text with every hidden character replaced. */
export function visiblePieces(text: string): Piece[] {
  const lines = text.replaceAll('\r\n', '\n');
  if (lines.search(HIDDEN) === -1) return [{ text: lines, hidden: false }];
  const kept = lines.replace(JOINED, KEEP);
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of kept.matchAll(HIDDEN)) {
    if (match.index > from) pieces.push({ text: restore(kept.slice(from, match.index)), hidden: false });
    pieces.push({ text: nameOf(match[0]), hidden: true });
    from = match.index + match[0].length;
    if (pieces.length >= MOST_PIECES) break;
  }
  if (from < kept.length) {
    pieces.push({ text: restore(kept.slice(from).replace(HIDDEN, (found) => nameOf(found))), hidden: false });
  }
  return pieces;
}

/** The same as one text, for where there is no place for marks: titles, notifications. */
export function makeVisible(text: string): string {
  return visiblePieces(text)
    .map((piece) => piece.text)
    .join('');
}

/** Of these, what no language needs: controls, and orders to show text in another order. */
const NOT_PROSE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** For what a model says in any language: joiners and marks are left as they are. */
export function makeProseVisible(text: string): string {
  return text.replace(NOT_PROSE, (found) => nameOf(found));
}

function restore(text: string): string {
  return text.replaceAll(KEEP, '\u200d');
}

/** C0 controls have pictures of their own in Unicode; the others are shown by their number. */
function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}
