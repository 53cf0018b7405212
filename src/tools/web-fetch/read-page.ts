/** What was fetched, as a model can take it: text or an image. Throws ToolError for everything else. */
import type { ImageBlock } from '../../core/conversation.js';
import type { FetchedPage } from '../../transport/guarded-fetch/guarded-fetch.js';
import { imageMediaType } from '../../workspace/binary-kind.js';
import { ToolError } from '../runtime/tool.js';
import { kindOfBytes, kindOfType, mediaTypeOf } from './content-kind.js';
import { decodeText } from './decode-text.js';
import { htmlText, nestingDepth, withoutRawElements } from './html-text.js';
import type { PageWorkers } from './page-worker.js';

const PAGE_LIMITS = {
  /** Of HTML, without scripts and styles; the rest is cut off. */
  htmlChars: 2_000_000,
  /** Elements in elements. Converters walk them by recursion, in quadratic time. */
  htmlDepth: 800,
  /** Of HTML that is only stripped of its tags. */
  bareHtmlChars: 500_000,
  /** Of text and of what a PDF says. */
  textChars: 2_000_000,
  /** Larger ones are refused by models. */
  imageBytes: 3_750_000,
} as const;

export type ReadPage =
  | { kind: 'text'; title: string; text: string; notes: readonly string[] }
  | { kind: 'image'; image: ImageBlock; bytes: number };

export async function readPage(
  page: FetchedPage,
  workers: PageWorkers,
  signal: AbortSignal,
): Promise<ReadPage> {
  const { body, headers, url } = page;
  const contentType = headers['content-type'] ?? '';
  const kind = kindOfBytes(kindOfType(mediaTypeOf(contentType)) ?? 'unknown', body);
  switch (kind) {
    case 'html':
      return readHtml(decodeText(body, contentType), url, workers, signal);
    case 'text':
      return cutText(decodeText(body, contentType), '');
    case 'pdf':
      return readPdfPage(body, workers, signal);
    case 'image':
      return readImage(body);
    case undefined:
      throw new ToolError(unsupported(url.href, mediaTypeOf(contentType)));
  }
}

export function unsupported(address: string, mediaType: string): string {
  const what = mediaType === '' ? 'binary data' : mediaType;
  return `${address} is ${what}, which cannot be shown. WebFetch reads pages, text, JSON, XML, PDF and images.`;
}

async function readHtml(
  html: string,
  url: URL,
  workers: PageWorkers,
  signal: AbortSignal,
): Promise<ReadPage> {
  const lean = withoutRawElements(html);
  const cut = lean.slice(0, PAGE_LIMITS.htmlChars);
  const notes = cut.length < lean.length ? ['The page is very long; its end was left out.'] : [];
  if (nestingDepth(cut) > PAGE_LIMITS.htmlDepth) return bareText(cut, notes);
  const outcome = await workers.convert({ kind: 'html', html: cut, address: url.href }, signal);
  if (outcome.done) return { kind: 'text', title: outcome.title, text: outcome.text.trim(), notes };
  if (outcome.why === 'aborted') throw new ToolError('The fetch was stopped.');
  return bareText(cut, notes);
}

function bareText(html: string, notes: readonly string[]): ReadPage {
  return {
    kind: 'text',
    title: '',
    text: htmlText(html.slice(0, PAGE_LIMITS.bareHtmlChars)),
    notes: [
      ...notes,
      'The page is too complex to convert, so this is the bare text of its beginning: links and tables are lost.',
    ],
  };
}

async function readPdfPage(bytes: Buffer, workers: PageWorkers, signal: AbortSignal): Promise<ReadPage> {
  // A copy: the worker takes the bytes over.
  const job = { kind: 'pdf', bytes: new Uint8Array(bytes), maxChars: PAGE_LIMITS.textChars } as const;
  const outcome = await workers.convert(job, signal);
  if (!outcome.done) {
    throw new ToolError(
      outcome.why === 'time'
        ? 'The PDF takes too long to read. Look for the same text as a web page.'
        : 'The PDF is broken or locked and cannot be read. Look for the same text as a web page.',
    );
  }
  const pages = outcome.pages ?? 0;
  if (outcome.text.replace(/\[Page \d+\]/g, '').trim() === '') {
    throw new ToolError(`The PDF has ${pages} pages but no text in them: it is probably scanned.`);
  }
  const page = cutText(outcome.text, '');
  return { ...page, notes: [`A PDF with ${pages} pages.`, ...page.notes] };
}

function readImage(bytes: Buffer): ReadPage {
  const mediaType = imageMediaType(bytes);
  if (mediaType === undefined) throw new ToolError('The image is of a kind that cannot be shown.');
  if (bytes.length > PAGE_LIMITS.imageBytes) {
    throw new ToolError(
      `The image is ${bytes.length} bytes, and ${PAGE_LIMITS.imageBytes} is the most that can be shown. Look for a smaller version.`,
    );
  }
  const source = { type: 'base64', mediaType, data: bytes.toString('base64') } as const;
  return { kind: 'image', image: { type: 'image', source }, bytes: bytes.length };
}

function cutText(text: string, title: string) {
  const cut = text.slice(0, PAGE_LIMITS.textChars);
  const notes: string[] = cut.length < text.length ? ['The text is very long; its end was left out.'] : [];
  return { kind: 'text', title, text: cut, notes } as const;
}
