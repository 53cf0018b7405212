/**
 * Text that a model, a tool or a file chose, made safe for a terminal: nothing in it can move the
 * cursor, colour a line, turn it around or hide in no width at all. What would is shown as its code.
 */

/** From and to, as code points. A tab and a line break stay. */
const UNSEEN_RANGES: readonly (readonly [number, number])[] = [
  // Controls and escapes, of both widths.
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  // Soft hyphen, direction marks, fillers and spaces of no width.
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180e],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0e],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  // Tags: letters that are never drawn.
  [0xe0000, 0xe0fff],
];

const hex = (code: number): string => `\\u{${code.toString(16)}}`;
const UNSEEN = new RegExp(`[${UNSEEN_RANGES.map(([from, to]) => `${hex(from)}-${hex(to)}`).join('')}]`, 'gu');

/** A line break of Windows is a line break. A zero-width joiner between two pictographs makes one picture, and stays. */
const JOINED = /(\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic})/gu;
const JOINER_KEPT = '\ue000';

export function plain(text: string): string {
  return text
    .replaceAll(JOINER_KEPT, '\\ue000')
    .replaceAll('\r\n', '\n')
    .replace(JOINED, `$1${JOINER_KEPT}`)
    .replace(UNSEEN, shownAsCode)
    .replaceAll(JOINER_KEPT, '\u200d');
}

/** On one line, however many it had. */
export function plainLine(text: string, limit = 200): string {
  const line = plain(text).replace(/\s+/g, ' ').trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}

function shownAsCode(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
