/** A page of a text file, numbered, with the way to the rest of it. */
import { type FilePage, readFilePage } from '../../workspace/file-page.js';
import type { OpenFile } from '../../workspace/regular-file.js';
import { numberedLines } from '../files/numbered-lines.js';
import type { ToolCallTarget } from '../files/tool-call-target.js';
import type { ToolContext } from '../runtime/context.js';
import { ToolError, type ToolResult } from '../runtime/tool.js';
import { READ_LIMITS } from './limits.js';

interface TextRange {
  offset?: number | undefined;
  limit?: number | undefined;
  allowLarge?: boolean | undefined;
}

/** Throws ToolError and FileError. Afterwards the file counts as read. */
export async function readText(
  file: OpenFile,
  target: ToolCallTarget,
  range: TextRange,
  context: ToolContext,
): Promise<ToolResult> {
  const { lines, chars } = range.allowLarge === true ? READ_LIMITS.large : READ_LIMITS;
  const from = Math.max(1, range.offset ?? 1);
  const limits = {
    from,
    lines: Math.min(range.limit ?? lines, READ_LIMITS.large.lines),
    lineChars: READ_LIMITS.lineChars,
    chars,
  };
  const page = await readFilePage(file, target.path, limits, context.signal);
  const last = from + page.lines.length - 1;
  const whole = from === 1 && !page.more;
  context.files.set(target.real, {
    ...page.version,
    readAt: Date.now(),
    ...(whole ? {} : { lines: { from, to: last } }),
  });
  if (page.lines.length === 0) return emptyPage(page, target, from);
  const notes = notesOn(page, target, from, last);
  const text = numberedLines(page.lines, from);
  return {
    type: 'result',
    resultForAssistant: notes.length === 0 ? text : `${text}\n\n${notes.join('\n')}`,
    data: {
      kind: 'text',
      path: target.path,
      size: page.size,
      encoding: page.encoding,
      lineEnding: page.lineEnding ?? null,
      from,
      to: last,
      totalLines: page.totalLines ?? null,
      more: page.more,
      cutLines: page.cut.map(({ line }) => line),
    },
  };
}

function emptyPage(page: FilePage, target: ToolCallTarget, from: number): ToolResult {
  const total = page.totalLines ?? page.seen;
  if (total > 0) {
    const count = total === 1 ? '1 line' : `${total} lines`;
    throw new ToolError(`${target.path} has ${count}; offset=${from} is behind its end.`);
  }
  return {
    type: 'result',
    resultForAssistant: `[${target.path} exists and is empty.]`,
    data: { kind: 'text', path: target.path, size: page.size, encoding: page.encoding, totalLines: 0 },
  };
}

function notesOn(page: FilePage, target: ToolCallTarget, from: number, last: number): string[] {
  const notes: string[] = [];
  const [first] = page.cut;
  if (first !== undefined) {
    const which =
      page.cut.length === 1
        ? `Line ${first.line} is`
        : `${page.cut.length} lines are (the first is line ${first.line})`;
    notes.push(
      `[${which} longer than ${READ_LIMITS.lineChars} characters and cut there. See the rest with Bash: ` +
        `sed -n ${first.line}p ${quoted(target.path)} | cut -c${READ_LIMITS.lineChars + 1}-${READ_LIMITS.lineChars * 5}]`,
    );
  }
  if (page.endless) {
    notes.push(
      `[The end of line ${last} is out of reach, so lines after it cannot be shown. Use Bash (cut, head -c).]`,
    );
  } else if (page.more) {
    const total = page.totalLines === undefined ? '' : ` of ${page.totalLines}`;
    const why = page.ended === 'chars' ? ', as much as one call shows' : '';
    notes.push(`[Lines ${from}-${last}${total}${why}. Go on with offset=${last + 1}.]`);
  } else if (from > 1) {
    notes.push(`[Lines ${from}-${last} of ${last}: the end of the file.]`);
  }
  return notes;
}

/** As a word of a shell command. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
