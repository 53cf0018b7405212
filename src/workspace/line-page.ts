/** Collects a page of lines out of text that comes in pieces, and keeps no more than the page. */

export interface PageLimits {
  /** The first line that is wanted, from 1. */
  from: number;
  lines: number;
  /** Characters of a line that are kept. */
  lineChars: number;
  /** Characters of all lines together. The first line is always kept. */
  chars: number;
}

export interface LinePage {
  /** Without their line endings. */
  lines: readonly string[];
  from: number;
  /** Lines of which only the start was kept. `length` is the least that they have. */
  cut: readonly { line: number; length: number }[];
  /** Whether anything follows the last line. */
  more: boolean;
  /** Why the page ended where it did. */
  ended: 'file' | 'lines' | 'chars';
  /** Lines up to the end of the page; all of the file's where nothing follows. */
  seen: number;
}

export interface PageCollector {
  /** False once the page is full and it is known that more follows: the rest need not be read. */
  push(text: string): boolean;
  /** Lines that were passed without being looked at. */
  skip(lines: number): void;
  /** `atEnd`: all of the text was pushed. */
  page(atEnd: boolean): LinePage;
}

export function createPageCollector(limits: PageLimits): PageCollector {
  const { from, lines: maxLines, lineChars, chars: maxChars } = limits;
  const lines: string[] = [];
  const cut: { line: number; length: number }[] = [];
  let chars = 0;
  let full: 'lines' | 'chars' | undefined;
  let more = false;
  // The line that is being read: its number, what is kept of it, how long it is.
  let line = 1;
  let kept = '';
  let length = 0;
  let endsWithCr = false;

  const take = (text: string, start: number, end: number): void => {
    if (end === start) return;
    if (line >= from && kept.length < lineChars) {
      kept += text.slice(start, Math.min(end, start + lineChars - kept.length));
    }
    length += end - start;
    endsWithCr = text.charCodeAt(end - 1) === 13;
  };

  const finishLine = (): void => {
    if (line >= from) {
      const whole = length - (endsWithCr ? 1 : 0);
      let shown = kept.slice(0, whole);
      // Half of a surrogate pair at the cut would not be a character.
      if (shown.length < whole && /[\ud800-\udbff]$/.test(shown)) shown = shown.slice(0, -1);
      if (lines.length > 0 && chars + shown.length > maxChars) {
        full = 'chars';
        more = true;
        return;
      }
      lines.push(shown);
      chars += shown.length + 1;
      if (shown.length < whole) cut.push({ line, length: whole });
      if (lines.length >= maxLines) full = 'lines';
    }
    line += 1;
    kept = '';
    length = 0;
    endsWithCr = false;
  };

  return {
    push(text) {
      let at = 0;
      while (at < text.length && !more) {
        if (full !== undefined) {
          more = true;
          break;
        }
        const newline = text.indexOf('\n', at);
        const end = newline === -1 ? text.length : newline;
        take(text, at, end);
        if (newline !== -1) finishLine();
        at = end + 1;
      }
      return !more;
    },
    skip(count) {
      line += count;
    },
    page(atEnd) {
      if (length > 0 && full === undefined) finishLine();
      const follows = more || !atEnd;
      return { lines, from, cut, more: follows, ended: follows ? (full ?? 'lines') : 'file', seen: line - 1 };
    },
  };
}
