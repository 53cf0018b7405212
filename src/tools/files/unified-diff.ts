/** What a change does to a text, for people. */
import type { StructuredPatchHunk } from 'diff';

const CONTEXT_LINES = 3;

/** Beyond this the two texts are shown one after the other: finding the shortest patch gets too dear. */
const MAX_EDITS = 500;

/** Characters of both texts, without what is the same at their ends; beyond this they are not compared. */
const MAX_COMPARED = 262_144;

const MAX_CHARS = 100_000;
/** Of each text, where they are not compared. */
const HEAD_CHARS = 20_000;

interface UnifiedDiff {
  /** Cut where it is very long. */
  text: string;
  /** Lines, of all of it. */
  added: number;
  removed: number;
}

/**
 * A unified diff with `name` as the file on both sides; `before` is undefined for a new file.
 * Line endings that are CRLF throughout on both sides are not shown.
 */
export async function unifiedDiff(
  name: string,
  before: string | undefined,
  after: string,
): Promise<UnifiedDiff> {
  const [old, now] = withoutCarriageReturns(before ?? '', after);
  if (before !== undefined && old === now) return { text: '', added: 0, removed: 0 };
  const { from, keep } = unchangedEnds(old, now);
  const changed = [old.slice(from, old.length - keep), now.slice(from, now.length - keep)] as const;
  const header = [`--- ${before === undefined ? '/dev/null' : name}`, `+++ ${name}`];
  if (changed[0].length + changed[1].length > MAX_COMPARED) return notCompared(header, ...changed);
  const hunks = await hunksBetween(...changed);
  const offset = countNewlines(old, from);
  const body = hunks.flatMap((hunk) => [rangeLine(hunk, offset), ...hunk.lines]);
  return { text: cut([...header, ...body].join('\n')), added: count(body, '+'), removed: count(body, '-') };
}

/** Sizes and beginnings. */
function notCompared(header: readonly string[], before: string, after: string): UnifiedDiff {
  const removed = countLines(before);
  const added = countLines(after);
  const head = (sign: string, text: string): string[] =>
    splitLines(text.slice(0, HEAD_CHARS)).map((line) => sign + line.replace(/\n$/, ''));
  const text = [
    ...header,
    `[too large to be compared: ${removed} lines (${before.length} characters) become ${added} lines (${after.length} characters); this is how they begin]`,
    ...head('-', before),
    ...head('+', after),
  ];
  return { text: text.join('\n'), added, removed };
}

function countLines(text: string): number {
  return countNewlines(text, text.length) + (text === '' || text.endsWith('\n') ? 0 : 1);
}

function count(lines: readonly string[], sign: string): number {
  return lines.filter((line) => line.startsWith(sign)).length;
}

async function hunksBetween(before: string, after: string): Promise<readonly StructuredPatchHunk[]> {
  const { structuredPatch } = await import('diff');
  const patch = structuredPatch('', '', before, after, '', '', {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
  });
  if (patch !== undefined) return patch.hunks;
  const oldLines = splitLines(before);
  const newLines = splitLines(after);
  const mark = (sign: string, lines: readonly string[]): string[] =>
    lines.flatMap((line) =>
      line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file'],
    );
  return [
    {
      oldStart: 1,
      oldLines: oldLines.length,
      newStart: 1,
      newLines: newLines.length,
      lines: [...mark('-', oldLines), ...mark('+', newLines)],
    },
  ];
}

function rangeLine({ oldStart, oldLines, newStart, newLines }: StructuredPatchHunk, offset: number): string {
  // By convention an empty side is numbered with the line before it.
  const start = (line: number, count: number): number => line + offset - (count === 0 ? 1 : 0);
  return `@@ -${start(oldStart, oldLines)},${oldLines} +${start(newStart, newLines)},${newLines} @@`;
}

/** Lines with their endings. */
function splitLines(text: string): string[] {
  const lines: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
    lines.push(text.slice(from, at + 1));
    from = at + 1;
  }
  if (from < text.length) lines.push(text.slice(from));
  return lines;
}

/**
 * How much is the same at both ends, by whole lines and but for the context of a hunk. So a change
 * in a large file costs little more than one in a small file.
 */
function unchangedEnds(a: string, b: string): { from: number; keep: number } {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a.charCodeAt(head) === b.charCodeAt(head)) head += 1;
  let from = lineStart(a, head);
  let tail = 0;
  while (tail < most - from && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail))
    tail += 1;
  for (let line = 0; line < CONTEXT_LINES && from > 0; line++) from = lineStart(a, from - 1);
  // The first line of the common end may be common in part only.
  let end = a.length - tail;
  for (let line = 0; line <= CONTEXT_LINES && end < a.length; line++) {
    const newline = a.indexOf('\n', end);
    end = newline === -1 ? a.length : newline + 1;
  }
  return { from, keep: a.length - end };
}

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

function countNewlines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function withoutCarriageReturns(before: string, after: string): [string, string] {
  const bare = /(^|[^\r])\n/;
  if (bare.test(before) || bare.test(after)) return [before, after];
  return [before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n')];
}

function cut(diff: string): string {
  if (diff.length <= MAX_CHARS) return diff;
  const end = diff.lastIndexOf('\n', MAX_CHARS);
  const left = diff.slice(end + 1).split('\n').length;
  return `${diff.slice(0, end)}\n[… ${left} more lines of the diff]`;
}
