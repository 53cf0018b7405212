/** What the terminal shows of tool calls, as lines. Pure: the colours are words around the text. */
import type { Description } from '../../permissions/gate.js';

export type Paint = (style: Style, text: string) => string;

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

const CODES: Readonly<Record<Style, string>> = {
  bold: '1',
  dim: '2',
  red: '31',
  green: '32',
  yellow: '33',
  cyan: '36',
};

/** Each line on its own, so that a pager or a cut line leaves no colour behind. */
export function painter(color: boolean): Paint {
  if (!color) return (_style, text) => text;
  return (style, text) =>
    text
      .split('\n')
      .map((line) => (line === '' ? '' : `\u001b[${CODES[style]}m${line}\u001b[0m`))
      .join('\n');
}

/** Lines of a diff before it is cut; the head of it is what a person reads. */
const DIFF_LINES = 60;
const RESULT_LINES = 6;

/** The whole of what is asked for: a command is never cut, a long diff says that it is. */
export function describeLines(describe: Description, paint: Paint): string[] {
  const lines: string[] = [];
  if (describe.command !== undefined) {
    lines.push(
      ...plain(describe.command)
        .split('\n')
        .map((line) => paint('bold', line)),
    );
  }
  if (describe.url !== undefined) lines.push(paint('bold', plain(describe.url)));
  if (describe.diff !== undefined) lines.push(...diffLines(describe.diff, paint));
  else if (describe.command === undefined && describe.paths.length > 0) {
    lines.push(...describe.paths.map((path) => paint('bold', plain(path))));
  }
  if (describe.detail !== undefined && describe.detail !== '')
    lines.push(...plain(describe.detail).split('\n'));
  return lines;
}

export function diffLines(diff: string, paint: Paint, limit = DIFF_LINES): string[] {
  const all = plain(diff).replace(/\n$/, '').split('\n');
  const shown = all.slice(0, limit).map((line) => {
    if (line.startsWith('+++') || line.startsWith('---')) return paint('dim', line);
    if (line.startsWith('+')) return paint('green', line);
    if (line.startsWith('-')) return paint('red', line);
    if (line.startsWith('@@')) return paint('cyan', line);
    return line;
  });
  const left = all.length - shown.length;
  return left > 0 ? [...shown, paint('yellow', `… ${left} more lines of this change are not shown`)] : shown;
}

/** The first lines of a result, for people. */
export function resultLines(text: string, paint: Paint, limit = RESULT_LINES): string[] {
  const all = plain(text).replace(/\n+$/, '').split('\n');
  if (all.length === 1 && all[0] === '') return [];
  const shown = all.slice(0, limit).map((line) => paint('dim', line.slice(0, 300)));
  const left = all.length - shown.length;
  return left > 0 ? [...shown, paint('dim', `… ${left} more line${left === 1 ? '' : 's'}`)] : shown;
}

export function titleOf(describe: Description): string {
  return plainLine(describe.title);
}

export function indent(lines: readonly string[], by = '    '): string {
  return lines.map((line) => `${by}${line}\n`).join('');
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** How long ago, in words. */
export function ago(at: number, now = Date.now()): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

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

/**
 * Text that a model, a tool or a file chose, made safe for a terminal: nothing in it can move the
 * cursor, colour a line, turn it around or hide in no width at all. What would is shown as its code.
 */
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
