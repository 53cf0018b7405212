/** PDF documents: a small one whole, of a large one the text of the pages that are asked for. */
import { readWhole } from '../../workspace/file-page.js';
import type { OpenFile } from '../../workspace/regular-file.js';
import { ToolError, type ToolResult } from '../runtime/tool.js';
import type { ToolCallTarget } from './tool-call-target.js';

const LIMITS = {
  /** A document up to this size is given whole. */
  wholePages: 10,
  wholeBytes: 4 * 1024 * 1024,
  /** Of which text can be taken. */
  maxBytes: 32 * 1024 * 1024,
  pagesPerCall: 20,
} as const;

/** `pages` of Read: `3`, `1-5`, `10-`. */
interface PageRange {
  from: number;
  /** Open: up to the end, or as many as one call shows. */
  to?: number;
}

/** The problem as a sentence where it cannot be used. */
export function parsePageRange(given: string): PageRange | string {
  const match = /^\s*(\d{1,6})\s*(?:(-)\s*(\d{1,6})?\s*)?$/.exec(given);
  if (match === null) return `pages must look like "3" or "1-5", not ${JSON.stringify(given)}.`;
  const from = Number(match[1]);
  const to = match[2] === undefined ? from : match[3] === undefined ? undefined : Number(match[3]);
  if (from === 0) return 'Pages are counted from 1.';
  if (to === undefined) return { from };
  if (to < from) return `pages "${given}" ends before it begins.`;
  if (to - from + 1 > LIMITS.pagesPerCall) {
    return `pages "${given}" is ${to - from + 1} pages; one call shows at most ${LIMITS.pagesPerCall}. Ask for "${from}-${from + LIMITS.pagesPerCall - 1}" first.`;
  }
  return { from, to };
}

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
