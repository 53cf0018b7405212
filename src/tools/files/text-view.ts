/**
 * A text as a model may have seen it, with the way back to the original: every character of the
 * view knows which range of the original it stands for.
 */

export interface TextView {
  text: string;
  /** Of the character at `index` in the view, in the original. */
  startOf(index: number): number;
  /** Exclusive. */
  endOf(index: number): number;
}

/** `lines`: CRLF reads as LF. `loose`: blanks at line ends and typographic punctuation do not count. */
export type ViewKind = 'lines' | 'loose';

/** What models write in place of it. */
const PLAIN: Readonly<Record<string, string>> = {
  '\u2018': "'",
  '\u2019': "'",
  '\u201a': "'",
  '\u201b': "'",
  '\u2032': "'",
  '\u201c': '"',
  '\u201d': '"',
  '\u201e': '"',
  '\u201f': '"',
  '\u2033': '"',
  '\u2010': '-',
  '\u2011': '-',
  '\u2012': '-',
  '\u2013': '-',
  '\u2014': '-',
  '\u2015': '-',
  '\u2212': '-',
  '\u2026': '...',
};

/** Control characters are shown to models as U+FFFD. */
const CONTROL = /[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;

/** Runs of blanks, a carriage return, and whatever else reads differently. */
const SPECIAL =
  /[ \t\u00a0\u2002-\u200a\u202f\u205f\u3000]+|[\r\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2010-\u2015\u2018-\u201f\u2026\u2032\u2033\u2212]/g;

const BLANK = /^[ \t\u00a0\u2002-\u200a\u202f\u205f\u3000]/;

export function viewOf(original: string, kind: ViewKind): TextView {
  return kind === 'lines' ? linesView(original) : looseView(original);
}

/** The view of what is looked for. `atLineEnd`: blanks at its end were dropped, so it must end a line. */
export function viewOfNeedle(needle: string, kind: ViewKind): { text: string; atLineEnd: boolean } {
  const text = viewOf(needle, kind).text;
  return { text, atLineEnd: kind === 'loose' && /[^\S\n]$/.test(needle) && !/[^\S\n]$/.test(text) };
}

function linesView(original: string): TextView {
  return build(original, /\r\n/g, (found) => (found === '\r\n' ? '\n' : found));
}

function looseView(original: string): TextView {
  return build(original, SPECIAL, (found, at) => {
    if (found === '\r') return original.charCodeAt(at + 1) === 10 ? '' : found;
    if (BLANK.test(found)) {
      if (endsLine(original, at + found.length)) return '';
      return found.replace(/[^ \t]/g, ' ');
    }
    return CONTROL.test(found) ? '\ufffd' : (PLAIN[found] ?? found);
  });
}

function endsLine(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return at >= text.length || code === 10 || (code === 13 && text.charCodeAt(at + 1) === 10);
}

/**
 * The view is made of pieces: what is copied from the original, and what stands for a replaced
 * part of it. Piece `i` begins at `at[i]` and stands for `from[i]` up to `until[i]`.
 */
function build(original: string, pattern: RegExp, replace: (found: string, at: number) => string): TextView {
  const parts: string[] = [];
  const at: number[] = [];
  const from: number[] = [];
  const until: number[] = [];
  let length = 0;
  const add = (text: string, start: number, end: number): void => {
    if (text === '') return;
    parts.push(text);
    at.push(length);
    from.push(start);
    until.push(end);
    length += text.length;
  };
  let copied = 0;
  for (const match of original.matchAll(pattern)) {
    const found = match[0];
    const plain = replace(found, match.index);
    if (plain === found) continue;
    add(original.slice(copied, match.index), copied, match.index);
    add(plain, match.index, match.index + found.length);
    copied = match.index + found.length;
  }
  add(original.slice(copied), copied, original.length);

  const pieceAt = (index: number): number => {
    let low = 0;
    let high = at.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((at[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const copiedAsIs = (piece: number): boolean =>
    (until[piece] ?? 0) - (from[piece] ?? 0) === (parts[piece]?.length ?? 0);
  return {
    text: parts.join(''),
    startOf(index) {
      const piece = pieceAt(index);
      const offset = copiedAsIs(piece) ? index - (at[piece] ?? 0) : 0;
      return (from[piece] ?? 0) + offset;
    },
    endOf(index) {
      const piece = pieceAt(index);
      if (!copiedAsIs(piece)) return until[piece] ?? original.length;
      return (from[piece] ?? 0) + (index - (at[piece] ?? 0)) + 1;
    },
  };
}
