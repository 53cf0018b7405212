/** Shows files: text with line numbers, images, PDF documents, notebooks. */
import { extname } from 'node:path';
import * as z from 'zod';
import { imageSize } from '../../core/image-size.js';
import { type ImageMediaType, imageMediaType, isPdf } from '../../workspace/binary-kind.js';
import { FileError } from '../../workspace/file-error.js';
import { readHead, readWhole } from '../../workspace/file-page.js';
import { type OpenFile, openRegularFile } from '../../workspace/regular-file.js';
import { pathInput } from '../files/file-input.js';
import { toToolError } from '../files/for-model.js';
import { missingFile } from '../files/missing-file.js';
import { NotANotebook } from '../files/notebook.js';
import { readNotebook } from '../files/read-notebook.js';
import { describeTarget, effectsOn, type ToolCallTarget, targetOf } from '../files/tool-call-target.js';
import type { ToolContext } from '../runtime/context.js';
import { type Tool, ToolError, type ToolResult } from '../runtime/tool.js';
import { READ_LIMITS } from './limits.js';
import { parsePageRange } from './page-range.js';
import { readPdf } from './read-pdf.js';
import { readText } from './read-text.js';

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
