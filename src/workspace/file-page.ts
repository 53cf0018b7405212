/**
 * A page of lines of an open file. A small file is read whole; of a large one only what lies
 * before the end of the page, a piece at a time, so that its size costs neither memory nor time.
 */
import { SNIFF_BYTES } from './binary-kind.js';
import { type FileVersion, versionOfBytes, versionOfLargeFile, WHOLE_FILE_BYTES } from './file-state.js';
import type { OpenFile } from './regular-file.js';
import {
  assertText,
  decodeFile,
  ENCODINGS,
  type LineEnding,
  lineEndingOf,
  sniffEncoding,
  streamDecoder,
  type TextEncoding,
} from './text-file.js';

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

interface PageCollector {
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

export interface FilePage extends LinePage {
  encoding: TextEncoding;
  size: number;
  version: FileVersion;
  /** Known only where the whole file was looked at. */
  totalLines?: number;
  lineEnding?: LineEnding;
  /** A line of the page has no end within reach. */
  endless: boolean;
}

const CHUNK_BYTES = 32 * 1024;

/** How far the end of the page's last line is looked for. */
const PAGE_BYTES = 32 * 1024 * 1024;

/** `path` is for messages. Throws FileError where the file is no text, and when `signal` fires. */
export async function readFilePage(
  file: OpenFile,
  path: string,
  limits: PageLimits,
  signal: AbortSignal,
): Promise<FilePage> {
  if (file.stats.size <= WHOLE_FILE_BYTES) return pageOfBytes(await readWhole(file), file, path, limits);
  return pageOfLargeFile(file, path, limits, signal);
}

/** The bytes of a file that is not too large for it; no more of one that grows meanwhile. */
export async function readWhole({ handle, stats }: OpenFile): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(stats.size);
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** The start of a file, to detect its kind. */
export async function readHead({ handle, stats }: OpenFile): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.min(SNIFF_BYTES, stats.size));
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  return bytes.subarray(0, bytesRead);
}

function pageOfBytes(bytes: Uint8Array, file: OpenFile, path: string, limits: PageLimits): FilePage {
  const { text, encoding } = decodeFile(bytes, path);
  const collector = createPageCollector(limits);
  collector.push(text);
  return {
    ...collector.page(true),
    encoding,
    size: bytes.length,
    version: versionOfBytes(bytes, file.stats.mtimeMs),
    totalLines: countLines(text),
    lineEnding: lineEndingOf(text),
    endless: false,
  };
}

async function pageOfLargeFile(
  file: OpenFile,
  path: string,
  limits: PageLimits,
  signal: AbortSignal,
): Promise<FilePage> {
  const { handle, stats } = file;
  const head = await readHead(file);
  const encoding = sniffEncoding(head);
  assertText(head, encoding, path);
  // Taken first: what is written while the page is read counts as a change.
  const version = await versionOfLargeFile(handle, stats);
  const collector = createPageCollector(limits);
  const outcome = await feed(file, encoding, limits, collector, signal);
  const page = collector.page(outcome === 'end');
  return {
    ...page,
    encoding,
    size: stats.size,
    version,
    ...(page.more ? {} : { totalLines: page.seen }),
    endless: outcome === 'endless',
  };
}

async function feed(
  { handle }: OpenFile,
  encoding: TextEncoding,
  { from }: PageLimits,
  collector: PageCollector,
  signal: AbortSignal,
): Promise<'end' | 'full' | 'endless'> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  const decoder = streamDecoder(encoding);
  // Lines of UTF-8 are counted without being decoded.
  let toSkip = encoding === 'utf-8' || encoding === 'utf-8-bom' ? from - 1 : 0;
  let position = ENCODINGS[encoding].mark.length;
  let decoded = 0;
  let unfinished = false;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    let bytes: Uint8Array = buffer.subarray(0, bytesRead);
    if (toSkip > 0) {
      const { lines, next } = skipLines(buffer.subarray(0, bytesRead), toSkip);
      toSkip -= lines;
      collector.skip(lines);
      unfinished = next < bytesRead;
      if (toSkip > 0) continue;
      bytes = bytes.subarray(next);
    }
    if (!collector.push(decoder.decode(bytes))) return 'full';
    decoded += bytes.length;
    if (decoded > PAGE_BYTES) return 'endless';
  }
  // A last line without a line ending counts as one.
  if (toSkip > 0 && unfinished) collector.skip(1);
  return collector.push(decoder.end()) ? 'end' : 'full';
}

function skipLines(bytes: Buffer, wanted: number): { lines: number; next: number } {
  let lines = 0;
  let next = 0;
  while (lines < wanted) {
    const newline = bytes.indexOf(10, next);
    if (newline === -1) break;
    next = newline + 1;
    lines += 1;
  }
  return { lines, next };
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return text === '' || text.endsWith('\n') ? lines : lines + 1;
}
