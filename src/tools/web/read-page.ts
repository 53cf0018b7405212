/** What was fetched, as a model can take it: text or an image. Throws ToolError for everything else. */
import { TextDecoder } from 'node:util';
import type { ImageBlock } from '../../core/conversation.js';
import type { FetchedPage } from '../../transport/guarded-fetch/guarded-fetch.js';
import { binaryKind, imageMediaType, isPdf, looksBinary, SNIFF_BYTES } from '../../workspace/binary-kind.js';
import { ToolError } from '../runtime/tool.js';
import { decodeEntities } from './html-entities.js';
import type { PageWorkers } from './page-worker.js';

type ContentKind = 'html' | 'text' | 'pdf' | 'image';

/** The first that matches. `unknown`: the bytes decide. */
const MEDIA_TYPES: readonly [RegExp, ContentKind | 'unknown'][] = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^image\/svg\+xml$/, 'text'],
  [/^image\/(?:png|jpe?g|pjpeg|gif|webp)$/, 'image'],
  [/^application\/(?:x-)?pdf$/, 'pdf'],
  [/^text\//, 'text'],
  [/^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|toml)$/, 'text'],
  [/^application\/(?:json5|x-ndjson|jsonl|x-jsonlines|x-yaml|x-sh|sql|graphql|rtf)$/, 'text'],
  [/^application\/(?:x-)?(?:javascript|ecmascript|typescript|httpd-php|python|perl|ruby|tex|latex)$/, 'text'],
  [/^(?:application\/octet-stream|binary\/octet-stream|application\/(?:x-)?unknown|)$/, 'unknown'],
];

export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Undefined where no content of this type can be shown to a model. */
export function kindOfType(mediaType: string): ContentKind | 'unknown' | undefined {
  return MEDIA_TYPES.find(([pattern]) => pattern.test(mediaType))?.[1];
}

/** What the bytes are, whatever was said of them: undefined for what is no text and cannot be shown. */
function kindOfBytes(said: ContentKind | 'unknown', bytes: Uint8Array): ContentKind | undefined {
  const head = bytes.subarray(0, SNIFF_BYTES);
  if (isPdf(head)) return 'pdf';
  if (imageMediaType(head) !== undefined) return 'image';
  if (said === 'pdf' || said === 'image') return undefined;
  if (said !== 'unknown') return said;
  // UTF-16 has NUL bytes, and a mark that says so.
  const marked = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  if (!marked && (looksBinary(head) || binaryKind(head) !== undefined)) return undefined;
  return /^\s*(?:<!--[^>]*-->\s*)?<(?:!doctype\s+html|html|head|body)\b/i.test(
    Buffer.from(head).toString('latin1'),
  )
    ? 'html'
    : 'text';
}

/** How much of a page is searched for what it says of its own encoding. */
const PRESCAN_BYTES = 1024;

/** By the byte order mark, the header, what the page says of itself, or as UTF-8. */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const label = markOf(bytes) ?? charsetOf(contentType) ?? declaredIn(bytes);
  const decoder = label === undefined ? undefined : decoderFor(label);
  if (decoder !== undefined) return decoder.decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // What browsers assume of pages that say nothing, or something unknown, and are not UTF-8.
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** A mark at the start wins over everything that is said. */
function markOf(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return undefined;
}

function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1];
}

/** `<meta charset>`, `<meta http-equiv content>`, `<?xml encoding?>`. */
function declaredIn(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PRESCAN_BYTES)).toString(
    'latin1',
  );
  const declared =
    /^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1] ??
    /<meta\s[^>]{0,300}?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1];
  // It could be read, so it is no UTF-16.
  return declared !== undefined && /^utf-?16/i.test(declared) ? 'utf-8' : declared;
}

function decoderFor(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

/** Their content is not text of the page. Ends at its own end tag whatever stands between. */
const RAW = ['script', 'style'];

/** Scripts and styles are often most of a page. What is never closed goes up to the end. */
export function withoutRawElements(html: string): string {
  return RAW.reduce(cutElement, html);
}

function cutElement(html: string, name: string): string {
  const start = new RegExp(`<${name}(?=[\\s/>])`, 'gi');
  const end = new RegExp(`</${name}(?=[\\s/>])[^>]*>?`, 'gi');
  let kept = '';
  let from = 0;
  for (let opening = start.exec(html); opening !== null; opening = start.exec(html)) {
    kept += html.slice(from, opening.index);
    end.lastIndex = opening.index;
    const closing = end.exec(html);
    if (closing === null) return kept;
    from = end.lastIndex;
    start.lastIndex = from;
  }
  return kept + html.slice(from);
}

/** Without an end tag of their own, or closed by what follows them: they do not nest by being repeated. */
const NOT_NESTING: ReadonlySet<string> = new Set(
  (
    'area base br col embed hr img input link meta param source track wbr ' +
    'p li td th tr dt dd option optgroup thead tbody tfoot colgroup rt rp html head body a button nobr'
  ).split(' '),
);

/** How deep the elements are nested, at most: an estimate from the tags alone, never too small by much. */
export function nestingDepth(html: string): number {
  let depth = 0;
  let deepest = 0;
  // The look-ahead leaves one way to read a name, so that text without an end is read once.
  for (const [tag, slash, name = ''] of html.matchAll(/<(\/?)([a-z][^\s/<>]*)(?=[\s/>])[^<>]*>/gi)) {
    if (NOT_NESTING.has(name.toLowerCase()) || tag.endsWith('/>')) continue;
    depth = slash === '/' ? Math.max(0, depth - 1) : depth + 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

const BLOCK_TAG =
  /<\/?(?:address|article|aside|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|table|td|th|title|tr|ul)(?=[\s/>])[^<>]*>/gi;

export function htmlText(html: string): string {
  const text = withoutRawElements(html)
    .replace(/<!--[^<>]{0,5000}-->/g, '')
    .replace(BLOCK_TAG, '\n')
    .replace(/<[^<>]*>/g, '');
  return decodeEntities(text)
    .replace(/[ \t\r\f\v]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

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
