/** What a file that is no text is, by its first bytes. */

interface Magic {
  kind: string;
  at?: number;
  bytes: string;
}

/** `bytes` as Latin-1. Longer and rarer marks stand before those that they start with. */
const MAGIC: readonly Magic[] = [
  { kind: 'a PNG image', bytes: '\x89PNG\r\n\x1a\n' },
  { kind: 'a JPEG image', bytes: '\xff\xd8\xff' },
  { kind: 'a GIF image', bytes: 'GIF8' },
  { kind: 'a WebP image', at: 8, bytes: 'WEBP' },
  { kind: 'a TIFF image', bytes: 'II*\0' },
  { kind: 'a TIFF image', bytes: 'MM\0*' },
  { kind: 'a Windows icon', bytes: '\0\0\x01\0' },
  { kind: 'a PDF document', bytes: '%PDF-' },
  { kind: 'a ZIP archive (or a document made of one)', bytes: 'PK\x03\x04' },
  { kind: 'a gzip archive', bytes: '\x1f\x8b' },
  { kind: 'a bzip2 archive', bytes: 'BZh' },
  { kind: 'an xz archive', bytes: '\xfd7zXZ\0' },
  { kind: 'a Zstandard archive', bytes: '\x28\xb5\x2f\xfd' },
  { kind: 'a 7z archive', bytes: '7z\xbc\xaf\x27\x1c' },
  { kind: 'a RAR archive', bytes: 'Rar!\x1a\x07' },
  { kind: 'a tar archive', at: 257, bytes: 'ustar' },
  { kind: 'an ELF program or library', bytes: '\x7fELF' },
  { kind: 'a Mach-O program', bytes: '\xcf\xfa\xed\xfe' },
  { kind: 'a Java class', bytes: '\xca\xfe\xba\xbe' },
  { kind: 'a WebAssembly module', bytes: '\0asm' },
  { kind: 'an SQLite database', bytes: 'SQLite format 3\0' },
  { kind: 'a WAV sound', at: 8, bytes: 'WAVE' },
  { kind: 'an Ogg file', bytes: 'OggS' },
  { kind: 'an MP3 sound', bytes: 'ID3' },
  { kind: 'an MP4 video', at: 4, bytes: 'ftyp' },
  { kind: 'a Matroska or WebM video', bytes: '\x1a\x45\xdf\xa3' },
  { kind: 'a font', bytes: 'wOF2' },
  { kind: 'a font', bytes: 'wOFF' },
  { kind: 'UTF-32 text', bytes: '\xff\xfe\0\0' },
  { kind: 'UTF-32 text', bytes: '\0\0\xfe\xff' },
  { kind: 'a Windows program', bytes: 'MZ' },
  { kind: 'a bitmap image', bytes: 'BM' },
];

/** How much of a file this and `looksBinary` look at. */
export const SNIFF_BYTES = 8192;

/** `undefined` where no mark is known. */
export function binaryKind(head: Uint8Array): string | undefined {
  return MAGIC.find(({ at = 0, bytes }) => hasBytes(head, at, bytes))?.kind;
}

/** Text in UTF-8 has no NUL bytes. */
export function looksBinary(head: Uint8Array): boolean {
  return head.subarray(0, SNIFF_BYTES).includes(0);
}

export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** `printable`: a text could start like this, but a text has no NUL bytes. */
const IMAGES: readonly { mediaType: ImageMediaType; at: number; bytes: string; printable?: true }[] = [
  { mediaType: 'image/png', at: 0, bytes: '\x89PNG\r\n\x1a\n' },
  { mediaType: 'image/jpeg', at: 0, bytes: '\xff\xd8\xff' },
  { mediaType: 'image/gif', at: 0, bytes: 'GIF87a', printable: true },
  { mediaType: 'image/gif', at: 0, bytes: 'GIF89a', printable: true },
  { mediaType: 'image/webp', at: 8, bytes: 'WEBP', printable: true },
];

/** Of those images that models are shown. */
export function imageMediaType(head: Uint8Array): ImageMediaType | undefined {
  return IMAGES.find(
    ({ at, bytes, printable }) => hasBytes(head, at, bytes) && (printable !== true || looksBinary(head)),
  )?.mediaType;
}

export function isPdf(head: Uint8Array): boolean {
  return hasBytes(head, 0, '%PDF-');
}

function hasBytes(head: Uint8Array, at: number, bytes: string): boolean {
  if (head.length < at + bytes.length) return false;
  for (let index = 0; index < bytes.length; index++) {
    if (head[at + index] !== bytes.charCodeAt(index)) return false;
  }
  return true;
}
