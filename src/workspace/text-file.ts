/** A text file whole, as it is changed: text, encoding and the state that the text stands for. */
import { binaryKind, looksBinary } from './binary-kind.js';
import { FileError, toFileError } from './file-error.js';
import type { FileVersion } from './file-state.js';
import { versionOfBytes } from './file-version.js';
import { openRegularFile } from './regular-file.js';
import { decodeText, sniffEncoding, type TextEncoding } from './text-encoding.js';

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
