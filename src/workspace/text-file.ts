/** Text files whole, as they are changed, in the encodings that are kept byte for byte: what was decoded encodes to the same bytes. */
import { binaryKind, looksBinary } from './binary-kind.js';
import { FileError, toFileError } from './file-error.js';
import { type FileVersion, versionOfBytes } from './file-state.js';
import { openRegularFile } from './regular-file.js';

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

/** Larger files are not changed: text, patch and copy would all be in memory at once. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

export interface TextFile {
  text: string;
  encoding: TextEncoding;
  version: FileVersion;
}

/** `undefined` where there is no such file. `real` as `realTarget` gives it. Throws FileError. */
export async function readTextFile(real: string): Promise<TextFile | undefined> {
  try {
    const { handle, stats } = await openRegularFile(real);
    try {
      if (stats.size > MAX_TEXT_BYTES) throw tooLarge(real, stats.size);
      const bytes = await handle.readFile();
      const { text, encoding } = decodeFile(bytes, real);
      return { text, encoding, version: versionOfBytes(bytes, stats.mtimeMs) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const problem = toFileError(error, real);
    if (problem instanceof FileError && problem.problem === 'missing') return undefined;
    throw problem;
  }
}

/** Throws FileError where the bytes are no text that can be kept as it is. */
export function decodeFile(bytes: Uint8Array, path: string): { text: string; encoding: TextEncoding } {
  const encoding = sniffEncoding(bytes);
  assertText(bytes, encoding, path);
  const text = decodeText(bytes, encoding);
  if (text === undefined) throw encodingError(path, encoding);
  return { text, encoding };
}

/** By the head of a file: throws FileError where it is binary. */
export function assertText(head: Uint8Array, encoding: TextEncoding, path: string): void {
  const unmarked = encoding === 'utf-8' || encoding === 'utf-8-bom';
  const wide = head[2] === 0 && head[3] === 0;
  if (unmarked ? !looksBinary(head) : !(encoding === 'utf-16le' && wide)) return;
  const kind = binaryKind(head) ?? 'a binary file';
  throw new FileError(
    'binary',
    path,
    `${path} is ${kind}, not text. Look into it with a Bash command made for it (file, xxd, unzip -l, …).`,
  );
}

function encodingError(path: string, encoding: TextEncoding): FileError {
  const what = encoding === 'utf-8' || encoding === 'utf-8-bom' ? 'UTF-8' : 'UTF-16';
  return new FileError(
    'encoding',
    path,
    `${path} is not valid ${what}; it may be in an older encoding such as Latin-1. ` +
      `Print it with Bash (iconv -f latin1 -t utf-8), or convert it first.`,
  );
}

function tooLarge(path: string, size: number): FileError {
  return new FileError(
    'too-large',
    path,
    `${path} has ${size} bytes; files of more than ${MAX_TEXT_BYTES} are not changed this way. Use a Bash command (sed, split).`,
  );
}
