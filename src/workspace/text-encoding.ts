/** Text of files in the encodings that are kept byte for byte: what was decoded encodes to the same bytes. */

export type TextEncoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be';

interface EncodingFacts {
  /** What the file starts with. */
  mark: readonly number[];
  /** What TextDecoder calls it. */
  label: string;
  name: string;
}

export const ENCODINGS: Readonly<Record<TextEncoding, EncodingFacts>> = {
  'utf-8': { mark: [], label: 'utf-8', name: 'UTF-8' },
  'utf-8-bom': { mark: [0xef, 0xbb, 0xbf], label: 'utf-8', name: 'UTF-8 with a byte order mark' },
  'utf-16le': { mark: [0xff, 0xfe], label: 'utf-16le', name: 'UTF-16LE' },
  'utf-16be': { mark: [0xfe, 0xff], label: 'utf-16be', name: 'UTF-16BE' },
};

const MARKED: readonly TextEncoding[] = ['utf-8-bom', 'utf-16le', 'utf-16be'];

/** By the mark at the start; without one it can only be UTF-8. */
export function sniffEncoding(head: Uint8Array): TextEncoding {
  return MARKED.find((encoding) => startsWith(head, ENCODINGS[encoding].mark)) ?? 'utf-8';
}

/** `undefined` where the bytes are not valid in `encoding`. The mark is not part of the text. */
export function decodeText(bytes: Uint8Array, encoding: TextEncoding): string | undefined {
  const { mark, label } = ENCODINGS[encoding];
  try {
    return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes.subarray(mark.length));
  } catch {
    return undefined;
  }
}

/** For pages of a file that is not read whole: bytes that are not valid become U+FFFD. */
interface StreamDecoder {
  /** The text of the next bytes; a character that is cut off waits for the rest. */
  decode(bytes: Uint8Array): string;
  /** What was still waiting. */
  end(): string;
}

export function streamDecoder(encoding: TextEncoding): StreamDecoder {
  const decoder = new TextDecoder(ENCODINGS[encoding].label, { ignoreBOM: true });
  return { decode: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}

/** Half a surrogate pair has no bytes in any encoding: callers refuse such text before. */
export function encodeText(text: string, encoding: TextEncoding): Buffer {
  const mark = Buffer.from(ENCODINGS[encoding].mark);
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text, 'utf8');
    case 'utf-8-bom':
      return Buffer.concat([mark, Buffer.from(text, 'utf8')]);
    case 'utf-16le':
      return Buffer.concat([mark, Buffer.from(text, 'utf16le')]);
    case 'utf-16be':
      return Buffer.concat([mark, Buffer.from(text, 'utf16le').swap16()]);
  }
}

/** A surrogate without its other half. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Why `text` cannot be written to a text file; nothing where it can. */
export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) {
    return 'contains a NUL byte, which text files do not have. Leave it out, or make binary files with Bash';
  }
  if (LONE_SURROGATE.test(text)) {
    return 'contains half of a surrogate pair, which cannot be encoded. Write the whole character';
  }
  return undefined;
}

export type LineEnding = 'lf' | 'crlf' | 'mixed' | 'none';

export function lineEndingOf(text: string): LineEnding {
  let crlf = 0;
  let lf = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text.charCodeAt(at - 1) === 13) crlf += 1;
    else lf += 1;
  }
  if (crlf === 0) return lf === 0 ? 'none' : 'lf';
  return lf === 0 ? 'crlf' : 'mixed';
}

function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return bytes.length >= mark.length && mark.every((byte, index) => bytes[index] === byte);
}
