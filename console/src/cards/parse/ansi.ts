/**
 * Output of a command as lines of coloured pieces. Colours are names of classes, never styles of the
 * output's choosing: of a large palette the nearest of sixteen is taken, so that text stays readable.
 * Nothing of the output moves a cursor: what a line was overwritten with is what it shows.
 */
import Anser from 'anser';
import { makeVisible } from '../../ui/visible.js';

interface Span {
  text: string;
  classes: string;
}

export type TerminalLine = readonly Span[];

/** Operating system commands, device strings and the like, up to their end. */
const STRINGS = /\u001b[\]PX^_][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\|$)/g;
/** Control sequences but for colours. */
const MOVES = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-ln-~]/g;
/** Escapes of two characters: charsets, saved cursors, resets. */
const SHORT = /\u001b(?:[ -/]+[0-~]|[0-Z\\^_`-~])/g;
const BELLS = /\u0007/g;

const COLOURS: readonly (readonly [name: string, r: number, g: number, b: number])[] = [
  ['black', 0, 0, 0],
  ['red', 187, 0, 0],
  ['green', 0, 187, 0],
  ['yellow', 187, 187, 0],
  ['blue', 0, 0, 187],
  ['magenta', 187, 0, 187],
  ['cyan', 0, 187, 187],
  ['white', 200, 200, 200],
  ['bright-black', 95, 95, 95],
  ['bright-red', 255, 85, 85],
  ['bright-green', 85, 255, 85],
  ['bright-yellow', 255, 255, 85],
  ['bright-blue', 85, 85, 255],
  ['bright-magenta', 255, 85, 255],
  ['bright-cyan', 85, 255, 255],
  ['bright-white', 255, 255, 255],
];

const CUBE = [0, 95, 135, 175, 215, 255];

const DECORATIONS: Readonly<Record<string, string>> = {
  bold: 'ansi-bold',
  dim: 'ansi-dim',
  italic: 'ansi-italic',
  underline: 'ansi-underline',
  reverse: 'ansi-reverse',
  strikethrough: 'ansi-strike',
  // Nothing is hidden here.
  hidden: 'ansi-revealed',
};

/** Lines as a terminal would show them in the end. Colours carry over from line to line. */
export function terminalLines(output: string): TerminalLine[] {
  const text = settle(output);
  if (text === '') return [];
  const lines: Span[][] = [[]];
  for (const entry of Anser.ansiToJson(text, { json: true, use_classes: true, remove_empty: true })) {
    const classes = classesOf(entry);
    const parts = entry.content.split('\n');
    parts.forEach((part, index) => {
      if (index > 0) lines.push([]);
      const shown = makeVisible(part);
      if (shown !== '') lines.at(-1)?.push({ text: shown, classes });
    });
  }
  if (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

/** Without any of the codes: to copy and to search. */
export function plainOutput(output: string): string {
  return terminalLines(output)
    .map((line) => line.map((span) => span.text).join(''))
    .join('\n');
}

/** Takes out all but text and colours. */
function settle(output: string): string {
  const kept = output
    .replaceAll('\r\n', '\n')
    .replace(STRINGS, '')
    .replace(MOVES, '')
    .replace(SHORT, '')
    .replace(BELLS, '');
  if (!/[\r\b]/.test(kept)) return kept;
  return kept
    .split('\n')
    .map((line) => rubOut(overwrite(line)))
    .join('\n');
}

/** Progress bars write a line again and again: the last text stays, with the colours that it had. */
function overwrite(line: string): string {
  if (!line.includes('\r')) return line;
  const versions = line.split('\r').filter((each) => each !== '');
  return versions.at(-1) ?? '';
}

/** Manual pages print bold as "x BACKSPACE x". */
function rubOut(line: string): string {
  if (!line.includes('\b')) return line;
  const kept: string[] = [];
  for (const each of line) {
    if (each === '\b') kept.pop();
    else kept.push(each);
  }
  return kept.join('');
}

function classesOf(entry: Anser.AnserJsonEntry): string {
  const fg = colourName(entry.fg, entry.fg_truecolor);
  const bg = colourName(entry.bg, entry.bg_truecolor);
  return [
    ...(fg === undefined ? [] : [`ansi-fg-${fg}`]),
    ...(bg === undefined ? [] : [`ansi-bg-${bg}`]),
    ...entry.decorations.flatMap((each) => DECORATIONS[each] ?? []),
  ].join(' ');
}

function colourName(name: string | null, trueColour: string | null): string | undefined {
  if (name === null || name === '') return undefined;
  if (name === 'ansi-truecolor') return nearest((trueColour ?? '').split(',').map(Number));
  const palette = /^ansi-palette-(\d+)$/.exec(name);
  if (palette !== null) return nearest(paletteColour(Number(palette[1])));
  const plain = name.replace(/^ansi-/, '');
  return COLOURS.some(([known]) => known === plain) ? plain : undefined;
}

function paletteColour(index: number): number[] {
  const basic = COLOURS[index];
  if (basic !== undefined) return basic.slice(1).map(Number);
  if (index >= 232) return Array<number>(3).fill(8 + (index - 232) * 10);
  const cell = index - 16;
  return [Math.floor(cell / 36), Math.floor(cell / 6) % 6, cell % 6].map((each) => CUBE[each] ?? 0);
}

function nearest([r = 0, g = 0, b = 0]: number[]): string {
  let best = 'white';
  let least = Number.POSITIVE_INFINITY;
  for (const [name, red, green, blue] of COLOURS) {
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}
