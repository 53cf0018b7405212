/**
 * Lines of bytes, bounded. A line over the limit is not kept but counted and skipped, with its two
 * ends, so that its caller gets an error.
 */
export type Frame =
  | { kind: 'line'; text: string; bytes: number }
  | { kind: 'oversized'; bytes: number; head: string; tail: string };

const NEWLINE = 0x0a;
const END_BYTES = 256;
const JOIN_BELOW = 64 * 1024;

export class FrameReader {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #size = 0;
  #head = '';
  #tail: Buffer = Buffer.alloc(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes of the line that has not ended yet. */
  get pending(): number {
    return this.#size;
  }

  *push(chunk: Buffer): Generator<Frame, void, void> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      this.#take(chunk.subarray(start, end));
      yield this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  }

  #take(part: Buffer): void {
    const before = this.#size;
    this.#size += part.length;
    if (this.#size <= this.#limit) {
      this.#keep(part);
      return;
    }
    if (before <= this.#limit) {
      // The first bytes of each: whatever is shorter is there whole, so the first of all are contiguous.
      const firsts = [...this.#parts, part].map((each) => each.subarray(0, END_BYTES));
      this.#head = Buffer.concat(firsts).toString('latin1', 0, END_BYTES);
      this.#tail = this.#parts.at(-1)?.subarray(-END_BYTES) ?? this.#tail;
      this.#parts = [];
    }
    const joined = Buffer.concat([this.#tail, part.subarray(-END_BYTES)]);
    this.#tail = joined.subarray(-END_BYTES);
  }

  /** Small parts are joined as they come: a line written byte by byte must not cost a buffer for each. */
  #keep(part: Buffer): void {
    let last = part;
    for (;;) {
      const previous = this.#parts.at(-1);
      if (previous === undefined || previous.length >= JOIN_BELOW || previous.length > last.length) break;
      this.#parts.pop();
      last = Buffer.concat([previous, last]);
    }
    this.#parts.push(last);
  }

  #finish(): Frame {
    const bytes = this.#size;
    const frame: Frame =
      bytes <= this.#limit
        ? { kind: 'line', text: Buffer.concat(this.#parts, bytes).toString('utf8'), bytes }
        : { kind: 'oversized', bytes, head: this.#head, tail: this.#tail.toString('latin1') };
    this.#parts = [];
    this.#size = 0;
    this.#head = '';
    this.#tail = Buffer.alloc(0);
    return frame;
  }
}

/** Writers put the id of an answer at one of its two ends: before `result`, or at the very last. */
const ID_FIRST = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d+)\s*,/;
const ID_LAST = /,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/** The request that an oversized line answers, where its ends tell. */
export function answeredId({ head, tail }: { head: string; tail: string }): number | undefined {
  const found = ID_FIRST.exec(head) ?? ID_LAST.exec(tail);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}
