/** The first and the last bytes of an output of any length. Memory is bounded by the two sizes. */

export interface OutputBuffer {
  push(chunk: Buffer): void;
  /** Of everything that was pushed. */
  readonly total: number;
  /** What came from `position` on, as far as it was kept. */
  since(position: number): OutputSlice;
}

export interface OutputSlice {
  before: Buffer;
  /** Bytes between the two that are kept no more. */
  omitted: number;
  after: Buffer;
}

const MAX_CHUNKS = 256;

export function createOutputBuffer(sizes: { headBytes: number; tailBytes: number }): OutputBuffer {
  const head: Buffer[] = [];
  let headLength = 0;
  const tail: Buffer[] = [];
  let tailLength = 0;
  let total = 0;

  const pushTail = (chunk: Buffer): void => {
    // A chunk of a shared pool would keep the whole pool alive.
    tail.push(Buffer.from(chunk.subarray(Math.max(0, chunk.length - sizes.tailBytes))));
    tailLength += Math.min(chunk.length, sizes.tailBytes);
    let first = tail[0];
    while (first !== undefined && tailLength - first.length >= sizes.tailBytes) {
      tail.shift();
      tailLength -= first.length;
      first = tail[0];
    }
    // Many small chunks cost more than their bytes.
    if (tail.length > MAX_CHUNKS) {
      const kept = Buffer.from(Buffer.concat(tail).subarray(-sizes.tailBytes));
      tail.splice(0, tail.length, kept);
      tailLength = kept.length;
    }
  };

  return {
    push(chunk) {
      total += chunk.length;
      const room = sizes.headBytes - headLength;
      if (room > 0) {
        const part = Buffer.from(chunk.subarray(0, room));
        head.push(part);
        headLength += part.length;
      }
      if (chunk.length > room) pushTail(room > 0 ? chunk.subarray(room) : chunk);
    },
    get total() {
      return total;
    },
    since(position) {
      const tailStart = total - tailLength;
      const before = position < headLength ? Buffer.concat(head).subarray(position) : Buffer.alloc(0);
      const from = Math.max(position, tailStart);
      const after = tailLength > 0 ? Buffer.concat(tail).subarray(from - tailStart) : Buffer.alloc(0);
      return { before, omitted: Math.max(0, tailStart - Math.max(position, headLength)), after };
    },
  };
}

/** Length of `bytes` without a UTF-8 character that has only begun. */
export function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** As text; the rest of a character whose beginning was cut off is left out. */
export function decodeOutput({ before, omitted, after }: OutputSlice): OutputText {
  if (omitted === 0) return { before: Buffer.concat([before, after]).toString('utf8'), omitted, after: '' };
  let start = 0;
  while (start < 3 && ((after[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return {
    before: before.subarray(0, wholeCharacters(before)).toString('utf8'),
    omitted,
    after: after.subarray(start).toString('utf8'),
  };
}

interface OutputText {
  before: string;
  /** Bytes. */
  omitted: number;
  after: string;
}
