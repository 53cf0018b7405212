/** Lines with their numbers, as models know them from `cat -n`. */

export function numberedLines(lines: readonly string[], from: number): string {
  return lines.map((line, index) => `${String(from + index).padStart(6)}\t${line}`).join('\n');
}

/** Lines of the text around a change, with their numbers. */
export interface Region {
  /** Offsets in the text after the change. */
  start: number;
  end: number;
}

const CONTEXT_LINES = 4;
const MAX_LINES = 60;
const MAX_REGIONS = 6;
const MAX_LINE_CHARS = 400;

/** How the text around each region reads now; regions that lie close together are shown as one. */
export function numberedSnippets(text: string, regions: readonly Region[]): string {
  const starts = lineStarts(text);
  const last = Math.max(0, starts.length - (text.endsWith('\n') ? 2 : 1));
  const spans: { from: number; to: number }[] = [];
  for (const { start, end } of regions.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(0, lineOf(starts, start) - CONTEXT_LINES);
    const to = Math.min(last, lineOf(starts, Math.max(start, end - 1)) + CONTEXT_LINES);
    const before = spans.at(-1);
    if (before !== undefined && from <= before.to + 1) before.to = Math.max(before.to, to);
    else spans.push({ from, to });
  }
  const shown = spans.slice(0, MAX_REGIONS).map(({ from, to }) => {
    const end = Math.min(to, from + MAX_LINES - 1);
    const lines: string[] = [];
    for (let line = from; line <= end; line++) lines.push(lineAt(text, starts, line));
    const rest = to - end;
    return numberedLines(lines, from + 1) + (rest > 0 ? `\n[… ${rest} more lines]` : '');
  });
  const left = spans.length - shown.length;
  if (left > 0) shown.push(`[… and ${left} more places]`);
  return shown.join('\n[…]\n');
}

/** Offsets at which lines begin. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The index of the line that `offset` is in. */
function lineOf(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function lineAt(text: string, starts: readonly number[], line: number): string {
  const next = starts[line + 1];
  const whole = text.slice(starts[line], next === undefined ? text.length : next - 1).replace(/\r$/, '');
  return whole.length > MAX_LINE_CHARS ? `${whole.slice(0, MAX_LINE_CHARS)}…` : whole;
}
