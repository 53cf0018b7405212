/**
 * Replaces strings in a text. A string is looked for as it is; then with CRLF read as LF; then,
 * once, without regard to blanks at line ends and typographic punctuation. Whatever way it was
 * found, only the lines that the replacement changes are written: the rest keeps its characters.
 */
import { lineEndingOf } from '../../workspace/text-file.js';
import type { Region } from './numbered-lines.js';
import { type TextView, type ViewKind, viewOf, viewOfNeedle } from './text-view.js';

/** Why a string could not be replaced, and what to do about it. */

const MAX_LISTED = 10;
const LINE_NUMBERS = /^ *\d+\t/m;

function severalMessage(text: string, offsets: readonly number[]): string {
  const lines = offsets.slice(0, MAX_LISTED).map((offset) => lineNumber(text, offset));
  const more = offsets.length > MAX_LISTED ? ', …' : '';
  return (
    `old_string occurs ${offsets.length} times (lines ${lines.join(', ')}${more}). ` +
    'Add lines around it until it is unique, or set replace_all to replace every occurrence.'
  );
}

function notFoundMessage(text: string, oldString: string): string {
  const message = 'old_string was not found in the file.';
  if (LINE_NUMBERS.test(oldString)) {
    return `${message} It seems to contain the line numbers that Read shows: leave them and the tab after them out.`;
  }
  const lines = similarLines(text, oldString);
  if (lines.length > 0) {
    const place = lines.length === 1 ? `line ${lines[0]}` : `lines ${lines.join(', ')}`;
    return `${message} Its first line is at ${place}, but with other indentation or other lines after it. Read there again and copy the text exactly.`;
  }
  return `${message} Read the file again and copy the text exactly, indentation included.`;
}

/** Lines that are the first line of `oldString` but for blanks around it. */
function similarLines(text: string, oldString: string): number[] {
  const first = oldString
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '');
  if (first === undefined) return [];
  const found: number[] = [];
  for (
    let at = text.indexOf(first);
    at !== -1 && found.length < 3;
    at = text.indexOf(first, at + first.length)
  ) {
    const start = text.lastIndexOf('\n', at - 1) + 1;
    const end = text.indexOf('\n', at);
    const line = text.slice(at === 0 ? 0 : start, end === -1 ? text.length : end);
    if (line.trim() === first) found.push(lineNumber(text, at));
  }
  return found;
}

function lineNumber(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

export interface TextEdit {
  oldString: string;
  newString: string;
  replaceAll: boolean;
}

type EditOutcome =
  | {
      ok: true;
      text: string;
      /** What was put in, in the text as it is now, and what was there, in the text as it was. */
      regions: readonly Region[];
      replaced: readonly Region[];
      /** The string was found only without regard to blanks and punctuation. */
      loose: boolean;
    }
  | { ok: false; message: string };

/** The loose view costs memory in proportion to the text. */
const MAX_LOOSE_CHARS = 4 * 1024 * 1024;

export async function editText(text: string, edit: TextEdit): Promise<EditOutcome> {
  const exact = occurrences(text, edit.oldString);
  if (exact.length > 0) {
    const found = exact.map((start) => ({ start, end: start + edit.oldString.length }));
    return replaceFound(text, edit, found, false, async ({ start }) =>
      withLineEndings(edit.newString, text, start),
    );
  }
  for (const kind of ['lines', 'loose'] as const) {
    if (kind === 'lines' && !text.includes('\r\n') && !edit.oldString.includes('\r\n')) continue;
    if (kind === 'loose' && text.length > MAX_LOOSE_CHARS) continue;
    const view = viewOf(text, kind);
    const found = findInView(view, edit.oldString, kind);
    if (found.length === 0) continue;
    return replaceFound(text, edit, found, kind === 'loose', (match) =>
      rebuild(text, edit, view, match, kind),
    );
  }
  return { ok: false, message: notFoundMessage(text, edit.oldString) };
}

interface Match {
  start: number;
  end: number;
  /** Where the match begins in the view that it was found in. */
  viewStart?: number;
}

async function replaceFound(
  text: string,
  edit: TextEdit,
  found: readonly Match[],
  loose: boolean,
  replacement: (match: Match) => Promise<string>,
): Promise<EditOutcome> {
  if (found.length > 1 && !edit.replaceAll) {
    return {
      ok: false,
      message: severalMessage(
        text,
        found.map(({ start }) => start),
      ),
    };
  }
  const parts: string[] = [];
  const regions: Region[] = [];
  let copied = 0;
  let length = 0;
  for (const match of found) {
    const kept = text.slice(copied, match.start);
    const put = await replacement(match);
    parts.push(kept, put);
    length += kept.length;
    regions.push({ start: length, end: length + put.length });
    length += put.length;
    copied = match.end;
  }
  parts.push(text.slice(copied));
  const replaced = found.map(({ start, end }) => ({ start, end }));
  return { ok: true, text: parts.join(''), regions, replaced, loose };
}

function occurrences(text: string, needle: string): number[] {
  const found: number[] = [];
  if (needle === '') return found;
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length))
    found.push(at);
  return found;
}

function findInView(view: TextView, oldString: string, kind: ViewKind): Match[] {
  const needle = viewOfNeedle(oldString, kind);
  if (needle.text.trim() === '') return [];
  return occurrences(view.text, needle.text)
    .filter((at) => {
      const next = at + needle.text.length;
      return !needle.atLineEnd || next === view.text.length || view.text[next] === '\n';
    })
    .map((at) => ({
      start: view.startOf(at),
      end: view.endOf(at + needle.text.length - 1),
      viewStart: at,
    }));
}

/** What the edit leaves as it is comes from the file, the rest from the edit. */
async function rebuild(
  text: string,
  edit: TextEdit,
  view: TextView,
  { start, end, viewStart = 0 }: Match,
  kind: ViewKind,
): Promise<string> {
  const oldView = viewOfNeedle(edit.oldString, kind).text;
  const viewEnd = viewStart + oldView.length;
  let at = viewStart;
  let original = start;
  let result = '';
  for (const { old, put, plain } of await stepsBetween(oldView, edit.newString, kind)) {
    const next = at + old.length;
    const originalEnd = next >= viewEnd ? end : view.startOf(next);
    if (put === undefined) {
      result += text.slice(original, originalEnd);
    } else {
      const { head, tail } = plain ? commonEnds(old, put) : { head: 0, tail: 0 };
      const from = head === 0 ? original : view.endOf(at + head - 1);
      const to = head + tail === old.length ? from : view.endOf(next - tail - 1);
      const middle = withLineEndings(put.slice(head, put.length - tail), text, start);
      result += text.slice(original, from) + middle + (tail === 0 ? '' : text.slice(to, originalEnd));
    }
    at = next;
    original = originalEnd;
  }
  return result;
}

/** A stretch of the old text, and what takes its place; nothing where it stays. */
interface Step {
  old: string;
  put: string | undefined;
  /** `put` reads the same in the view, so that the two can be compared by character. */
  plain: boolean;
}

async function stepsBetween(oldView: string, newString: string, kind: ViewKind): Promise<Step[]> {
  const { diffArrays } = await import('diff');
  const given = splitLines(newString.replaceAll('\r\n', '\n'));
  const inView = splitLines(viewOfNeedle(newString, kind).text);
  const after = given.length === inView.length ? inView : given;
  const steps: Step[] = [];
  let line = 0;
  for (const { added, removed, value } of diffArrays(splitLines(oldView), after)) {
    if (removed) steps.push({ old: value.join(''), put: '', plain: true });
    else if (!added) steps.push({ old: value.join(''), put: undefined, plain: true });
    else {
      const put = given.slice(line, line + value.length).join('');
      const plain = put === value.join('');
      const before = steps.at(-1);
      if (before?.put === '') Object.assign(before, { put, plain });
      else steps.push({ old: '', put, plain });
    }
    if (!removed) line += value.length;
  }
  return steps;
}

function commonEnds(a: string, b: string): { head: number; tail: number } {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  return { head, tail };
}

/** Bare line feeds of `part` become what the lines around `at` end with. */
function withLineEndings(part: string, text: string, at: number): string {
  if (!part.includes('\n') || part.includes('\r\n')) return part;
  return endsWithCrlf(text, at) ? part.replaceAll('\n', '\r\n') : part;
}

/** How the line at `offset` ends; a last line without an end is like the one before it. */
function endsWithCrlf(text: string, offset: number): boolean {
  const next = text.indexOf('\n', offset);
  const newline = next === -1 ? text.lastIndexOf('\n', offset) : next;
  return newline > 0 && text.charCodeAt(newline - 1) === 13;
}

function splitLines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

/** Text that replaces a whole file takes over its line endings, where they are all the same. */
export function withLineEndingsOf(content: string, before: string): string {
  if (content.includes('\r\n') || lineEndingOf(before) !== 'crlf') return content;
  return content.replaceAll('\n', '\r\n');
}
