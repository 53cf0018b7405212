/**
 * Width and height of an image from the first bytes of its base64 text. Only the bytes that are
 * asked for are decoded, so that a picture of megabytes costs no more than a small one.
 */

interface ImageSize {
  width: number;
  height: number;
}

/** How far into the file the frame header of a JPEG may be. */
const JPEG_SEGMENTS = 64;

/** `undefined` where the text is no PNG, JPEG, GIF, WebP or BMP, or is cut off before the size. */
export function imageSize(base64: string): ImageSize | undefined {
  const first = bytesAt(base64, 0, 4);
  if (first === 0x89504e47) return sizeOf(bytesAt(base64, 16, 4), bytesAt(base64, 20, 4));
  if (first >>> 16 === 0xffd8) return jpegSize(base64);
  if (first === 0x47494638) return sizeOf(littleEndian(base64, 6, 2), littleEndian(base64, 8, 2));
  if (first === 0x52494646 && bytesAt(base64, 8, 4) === 0x57454250) return webpSize(base64);
  if (first >>> 16 === 0x424d) return bmpSize(base64);
  return undefined;
}

function sizeOf(width: number, height: number): ImageSize | undefined {
  return width > 0 && height > 0 ? { width, height } : undefined;
}

function jpegSize(base64: string): ImageSize | undefined {
  let offset = 2;
  for (let segment = 0; segment < JPEG_SEGMENTS; segment++) {
    if (byteAt(base64, offset) !== 0xff) return undefined;
    const marker = byteAt(base64, offset + 1);
    // 0xff may be repeated as padding before a marker.
    if (marker === 0xff) {
      offset += 1;
      continue;
    }
    if (isFrame(marker)) return sizeOf(bytesAt(base64, offset + 7, 2), bytesAt(base64, offset + 5, 2));
    const length = bytesAt(base64, offset + 2, 2);
    if (length < 2) return undefined;
    offset += 2 + length;
  }
  return undefined;
}

/** SOF0…SOF15 without DHT (c4), JPG (c8) and DAC (cc). */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function webpSize(base64: string): ImageSize | undefined {
  const chunk = bytesAt(base64, 12, 4);
  if (chunk === 0x56503858) return sizeOf(littleEndian(base64, 24, 3) + 1, littleEndian(base64, 27, 3) + 1);
  if (chunk === 0x5650384c) {
    const bits = littleEndian(base64, 21, 4);
    return sizeOf((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
  }
  if (chunk === 0x56503820) {
    return sizeOf(littleEndian(base64, 26, 2) & 0x3fff, littleEndian(base64, 28, 2) & 0x3fff);
  }
  return undefined;
}

function bmpSize(base64: string): ImageSize | undefined {
  // The height of a bitmap that is stored top-down is negative.
  return sizeOf(Math.abs(littleEndian(base64, 18, 4) | 0), Math.abs(littleEndian(base64, 22, 4) | 0));
}

/** Big-endian and unsigned; bytes that do not exist count as 0. */
function bytesAt(base64: string, offset: number, count: number): number {
  let value = 0;
  for (let index = 0; index < count; index++) value = (value << 8) | byteAt(base64, offset + index);
  return value >>> 0;
}

function littleEndian(base64: string, offset: number, count: number): number {
  let value = 0;
  for (let index = count - 1; index >= 0; index--) value = (value << 8) | byteAt(base64, offset + index);
  return value >>> 0;
}

function byteAt(base64: string, offset: number): number {
  const group = Math.floor(offset / 3) * 4;
  switch (offset % 3) {
    case 0:
      return ((sextet(base64, group) << 2) | (sextet(base64, group + 1) >> 4)) & 0xff;
    case 1:
      return ((sextet(base64, group + 1) << 4) | (sextet(base64, group + 2) >> 2)) & 0xff;
    default:
      return ((sextet(base64, group + 2) << 6) | sextet(base64, group + 3)) & 0xff;
  }
}

function sextet(base64: string, index: number): number {
  const code = base64.charCodeAt(index);
  if (code >= 65 && code <= 90) return code - 65;
  if (code >= 97 && code <= 122) return code - 71;
  if (code >= 48 && code <= 57) return code + 4;
  if (code === 43 || code === 45) return 62;
  if (code === 47 || code === 95) return 63;
  return 0;
}
