/** Bytes of a web page to text: by its byte order mark, its header, what it says of itself, or UTF-8. */
import { TextDecoder } from 'node:util';

/** How much of a page is searched for what it says of its own encoding. */
const PRESCAN_BYTES = 1024;

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
