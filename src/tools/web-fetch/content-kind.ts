/** What a page is: by its media type, and by its first bytes where that says nothing. */
import { binaryKind, imageMediaType, isPdf, looksBinary, SNIFF_BYTES } from '../../workspace/binary-kind.js';

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
export function kindOfBytes(said: ContentKind | 'unknown', bytes: Uint8Array): ContentKind | undefined {
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
