/** `data:` URLs, as the OpenAI wires carry images and files. */
import type { MediaSource } from '../../core/conversation.js';

const MARK = ';base64,';
/** A media type with parameters is short; a longer head is not one, and is not searched. */
const HEAD_LIMIT = 256;

/** A base64 `data:` URL as what it holds, any other URL as itself. */
export function sourceOfUrl(url: string): MediaSource {
  if (!url.startsWith('data:')) return { type: 'url', url };
  const comma = url.slice(0, HEAD_LIMIT).indexOf(MARK);
  if (comma < 0) return { type: 'url', url };
  const mediaType = url.slice('data:'.length, comma).toLowerCase();
  return {
    type: 'base64',
    mediaType: mediaType === '' ? 'application/octet-stream' : mediaType,
    data: url.slice(comma + MARK.length),
  };
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType}${MARK}${data}`;
}
