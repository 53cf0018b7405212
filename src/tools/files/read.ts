/** Shows files: text with line numbers, images, PDF documents, notebooks. */
import { extname } from 'node:path';
import * as z from 'zod';
import { imageSize } from '../../core/image-size.js';
import { type ImageMediaType, imageMediaType, isPdf } from '../../workspace/binary-kind.js';
import { FileError } from '../../workspace/file-error.js';
import { type FilePage, readFilePage, readHead, readWhole } from '../../workspace/file-page.js';
import { type OpenFile, openRegularFile } from '../../workspace/regular-file.js';
import type { ToolContext } from '../runtime/context.js';
import { type Tool, ToolError, type ToolResult } from '../runtime/tool.js';
import { NotANotebook } from './notebook.js';
import { readNotebook } from './notebook-read.js';
import { numberedLines } from './numbered-lines.js';
import { parsePageRange, readPdf } from './read-pdf.js';
import {
  describeTarget,
  effectsOn,
  missingFile,
  pathInput,
  type ToolCallTarget,
  targetOf,
  toToolError,
} from './tool-call-target.js';

/** How much of a file one call shows. */
const READ_LIMITS = {
  lines: 2000,
  lineChars: 2000,
  chars: 100_000,
  /** With `allow_large`. */
  large: { lines: 20_000, chars: 400_000 },
  /** Of an image: base64 makes a third more of it, and models take 5 MB. */
  imageBytes: 3_900_000,
} as const;

interface TextRange {
  offset?: number | undefined;
  limit?: number | undefined;
  allowLarge?: boolean | undefined;
}

/** Throws ToolError and FileError. Afterwards the file counts as read. */
async function readText(
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

/** Throws ToolError. */
async function readImage(
  file: OpenFile,
  target: ToolCallTarget,
  mediaType: ImageMediaType,
): Promise<ToolResult> {
  const { size } = file.stats;
  const name = mediaType.slice('image/'.length).toUpperCase();
  if (size > READ_LIMITS.imageBytes) {
    throw new ToolError(
      `${target.path} is a ${name} image of ${size} bytes; images of up to ${READ_LIMITS.imageBytes} can be shown. ` +
        'Make a smaller copy with Bash (for example: convert FILE -resize 1500x1500 /tmp/smaller.png) and Read that.',
    );
  }
  const data = (await readWhole(file)).toString('base64');
  const dimensions = imageSize(data);
  const measure = dimensions === undefined ? '' : `, ${dimensions.width} × ${dimensions.height} pixels`;
  return {
    type: 'result',
    resultForAssistant: [
      { type: 'text', text: `[${name} image${measure}, ${size} bytes]` },
      { type: 'image', source: { type: 'base64', mediaType, data } },
    ],
    data: { kind: 'image', path: target.path, mediaType, size, ...dimensions },
  };
}

const inputSchema = z.strictObject({
  file_path: pathInput('The file to read, best as an absolute path.'),
  offset: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('The first line to show, from 1; of a notebook, the first cell.'),
  limit: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe('How many lines to show; of a notebook, how many cells.'),
  pages: z.string().optional().describe('Pages of a PDF document, "3" or "1-5"; at most 20 in a call.'),
  allow_large: z
    .boolean()
    .optional()
    .describe('Show up to four times as much text as usual. Only where all of it is needed.'),
});

type ReadInput = z.output<typeof inputSchema>;

export const readTool: Tool<ReadInput> = {
  name: 'Read',
  userFacingName: () => 'Read',
  description:
    `Shows a file. Text comes with line numbers, up to ${READ_LIMITS.lines} lines at once from the start or from offset; ` +
    `lines are cut after ${READ_LIMITS.lineChars} characters. Also shows images (PNG, JPEG, GIF, WebP), PDF documents ` +
    'and Jupyter notebooks. Folders are listed with LS.',
  inputSchema,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  needsPermissions: () => true,
  effects: ({ file_path }, context) => effectsOn(targetOf(file_path, context), 'read'),
  prompt:
    'Read shows a file with line numbers as cat -n does: the number and the tab after it are not part of the file. Read ' +
    'several files in one message where that helps. A file must be read before Edit or Write may change it. Where ' +
    'something was left out, the result says which offset or pages to go on with.',
  validateInput({ pages }) {
    const range = pages === undefined ? undefined : parsePageRange(pages);
    return typeof range === 'string' ? { ok: false, message: range } : { ok: true };
  },
  describe: (input, context) => describeTarget('Read', 'read', targetOf(input.file_path, context), context),
  async *call(input, context) {
    const target = targetOf(input.file_path, context);
    try {
      yield await readAny(input, target, context);
    } catch (error) {
      throw await explained(error, target, context);
    }
  },
  // The tool has bounds of its own, and says how to go on.
  limits: { resultChars: 700_000 },
};

async function readAny(input: ReadInput, target: ToolCallTarget, context: ToolContext): Promise<ToolResult> {
  const file = await openRegularFile(target.real);
  try {
    const head = await readHead(file);
    return await readByKind(head, file, input, target, context);
  } finally {
    await file.handle.close();
  }
}

async function readByKind(
  head: Uint8Array,
  file: OpenFile,
  input: ReadInput,
  target: ToolCallTarget,
  context: ToolContext,
): Promise<ToolResult> {
  const range = input.pages === undefined ? undefined : parsePageRange(input.pages);
  if (typeof range === 'string') throw new ToolError(range);
  if (isPdf(head)) return readPdf(file, target, range, context.signal);
  if (range !== undefined) {
    throw new ToolError(`${target.path} is not a PDF document: pages is for those. Use offset and limit.`);
  }
  const mediaType = imageMediaType(head);
  if (mediaType !== undefined) return readImage(file, target, mediaType);
  const { offset, limit } = input;
  if (extname(target.real).toLowerCase() === '.ipynb' && file.stats.size > 0) {
    try {
      return await readNotebook(target, { offset, limit }, context);
    } catch (error) {
      // Shown as text, so that it can be mended.
      if (!(error instanceof NotANotebook)) throw error;
    }
  }
  return readText(file, target, { offset, limit, allowLarge: input.allow_large }, context);
}

async function explained(error: unknown, target: ToolCallTarget, context: ToolContext): Promise<unknown> {
  if (!(error instanceof FileError)) return error;
  if (error.problem === 'missing') return missingFile(target, context);
  if (error.problem === 'folder') return new ToolError(`${target.path} is a folder. List it with LS.`);
  return toToolError(error);
}
