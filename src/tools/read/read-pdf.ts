/** PDF documents: a small one whole, of a large one the text of the pages that are asked for. */
import { readWhole } from '../../workspace/file-page.js';
import type { OpenFile } from '../../workspace/regular-file.js';
import type { ToolCallTarget } from '../files/tool-call-target.js';
import { ToolError, type ToolResult } from '../runtime/tool.js';
import { READ_LIMITS } from './limits.js';
import type { PageRange } from './page-range.js';

const { pdf: LIMITS } = READ_LIMITS;

/** Throws ToolError. */
export async function readPdf(
  file: OpenFile,
  target: ToolCallTarget,
  range: PageRange | undefined,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { size } = file.stats;
  if (size > LIMITS.maxBytes) {
    throw new ToolError(
      `${target.path} is a PDF of ${megabytes(size)} MB; Read takes up to ${megabytes(LIMITS.maxBytes)} MB. Take its text with Bash: pdftotext -f 1 -l 20 FILE -`,
    );
  }
  const bytes = await readWhole(file);
  const pdf = await openPdf(bytes, target.path);
  try {
    const pages = pdf.numPages;
    if (range === undefined) return wholePdf(bytes, target, pages);
    const last = Math.min(range.to ?? range.from + LIMITS.pagesPerCall - 1, pages);
    if (range.from > pages)
      throw new ToolError(`${target.path} has ${pages} pages; page ${range.from} is behind its end.`);
    const texts: string[] = [];
    for (let number = range.from; number <= last; number++) {
      signal.throwIfAborted();
      const text = await pageText(pdf, number);
      texts.push(`<page number="${number}">\n${text === '' ? '[no text on this page]' : text}\n</page>`);
    }
    const goOn =
      last < pages ? ` Go on with pages="${last + 1}-${Math.min(pages, last + LIMITS.pagesPerCall)}".` : '';
    texts.push(`[Pages ${range.from}-${last} of ${pages}.${goOn}]`);
    return {
      type: 'result',
      resultForAssistant: texts.join('\n'),
      data: { kind: 'pdf', path: target.path, size, pages, from: range.from, to: last },
    };
  } finally {
    await pdf.close();
  }
}

function wholePdf(bytes: Buffer, target: ToolCallTarget, pages: number): ToolResult {
  if (pages > LIMITS.wholePages || bytes.length > LIMITS.wholeBytes) {
    throw new ToolError(
      `${target.path} is a PDF of ${pages} pages and ${megabytes(bytes.length)} MB, too much at once. ` +
        `Name the pages, at most ${LIMITS.pagesPerCall} in a call: pages="1-${Math.min(pages, LIMITS.pagesPerCall)}".`,
    );
  }
  const title = target.path.slice(target.path.lastIndexOf('/') + 1);
  return {
    type: 'result',
    resultForAssistant: [
      { type: 'text', text: `[PDF document, ${pages} ${pages === 1 ? 'page' : 'pages'}.]` },
      {
        type: 'document',
        source: { type: 'base64', mediaType: 'application/pdf', data: bytes.toString('base64') },
        title,
      },
    ],
    data: { kind: 'pdf', path: target.path, size: bytes.length, pages },
  };
}

interface OpenPdf {
  numPages: number;
  items(page: number): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

async function openPdf(bytes: Buffer, path: string): Promise<OpenPdf> {
  const { getDocumentProxy } = await import('unpdf');
  try {
    // The library takes the memory that it is given for itself, and prints warnings unless told not to.
    const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
    return {
      numPages: pdf.numPages,
      async items(number) {
        const page = await pdf.getPage(number);
        const { items } = await page.getTextContent();
        page.cleanup();
        return items;
      },
      close: () => pdf.loadingTask.destroy(),
    };
  } catch (error) {
    const locked = error instanceof Error && error.name === 'PasswordException';
    throw new ToolError(
      locked
        ? `${path} is protected by a password. Ask the user for a copy without one.`
        : `${path} starts like a PDF document but cannot be read as one: it may be damaged or cut off.`,
      { cause: error },
    );
  }
}

async function pageText(pdf: OpenPdf, number: number): Promise<string> {
  const items = await pdf.items(number).catch((error: unknown) => {
    throw new ToolError(`Page ${number} cannot be read: the document may be damaged.`, { cause: error });
  });
  let text = '';
  for (const item of items) {
    if (typeof item !== 'object' || item === null || !('str' in item) || typeof item.str !== 'string')
      continue;
    text += item.str;
    if ('hasEOL' in item && item.hasEOL === true) text += '\n';
  }
  return text.trim();
}

function megabytes(bytes: number): string {
  return (bytes / (1024 * 1024)).toFixed(1);
}
