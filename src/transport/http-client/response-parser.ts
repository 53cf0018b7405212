/** One HTTP/1.x answer from the reads of a socket, whatever their boundaries. */
import { ProtocolError, parseHead, type ResponseHead } from './response-head.js';

const MAX_HEAD_BYTES = 65_536;
const HEAD_END = Buffer.from('\r\n\r\n');

export class ResponseParser {
  /** The final head; 1xx are skipped. */
  head: ResponseHead | undefined;
  /** The answer is whole. */
  done = false;
  /** Bytes came after the end, unsolicited: the connection is not reused. */
  excess = false;
  readonly #bodiless: boolean;
  #partialHead: Buffer | undefined;
  #chunks: ChunkedDecoder | undefined;
  #left = 0;

  /** `bodiless`: the request was HEAD. */
  constructor(bodiless: boolean) {
    this.#bodiless = bodiless;
  }

  /**
   * Takes one read; `bytes` is overwritten and not kept. Returns what of the body it brought, in a
   * buffer of its own. Throws ProtocolError.
   */
  push(bytes: Buffer): Buffer | undefined {
    if (this.head === undefined) return this.#pushHead(bytes);
    return this.#pushBody(this.head, bytes, 0);
  }

  /** The peer closed the connection. True when the answer is whole by that. */
  end(): boolean {
    if (this.head?.framing.kind === 'close') this.done = true;
    return this.done;
  }

  #pushHead(read: Buffer): Buffer | undefined {
    const before = this.#partialHead?.length ?? 0;
    const bytes = this.#partialHead === undefined ? read : Buffer.concat([this.#partialHead, read]);
    let from = 0;
    let searchFrom = Math.max(0, before - 3);
    for (;;) {
      const end = bytes.indexOf(HEAD_END, searchFrom);
      if ((end === -1 ? bytes.length : end) - from > MAX_HEAD_BYTES) {
        throw new ProtocolError('the headers are larger than 64 KB');
      }
      if (end === -1) {
        this.#partialHead = Buffer.from(bytes.subarray(from));
        return undefined;
      }
      const head = parseHead(bytes.toString('latin1', from, end), this.#bodiless);
      from = end + 4;
      searchFrom = from;
      if (head.status === 101) throw new ProtocolError('it switched protocols unasked');
      if (head.status >= 200) {
        this.#partialHead = undefined;
        this.#begin(head);
        return this.#pushBody(head, bytes, from);
      }
    }
  }

  #begin(head: ResponseHead): void {
    this.head = head;
    if (head.framing.kind === 'none') this.done = true;
    else if (head.framing.kind === 'length') this.#left = head.framing.length;
    else if (head.framing.kind === 'chunked') this.#chunks = new ChunkedDecoder();
  }

  #pushBody(head: ResponseHead, bytes: Buffer, start: number): Buffer | undefined {
    if (start === bytes.length) return undefined;
    if (this.done) {
      this.excess = true;
      return undefined;
    }
    let payloadEnd = bytes.length;
    if (this.#chunks !== undefined) {
      this.#chunks.decode(bytes, start);
      payloadEnd = this.#chunks.payloadEnd;
      this.done = this.#chunks.done;
      this.excess = this.#chunks.position < bytes.length;
    } else if (head.framing.kind === 'length') {
      payloadEnd = Math.min(bytes.length, start + this.#left);
      this.#left -= payloadEnd - start;
      this.done = this.#left === 0;
      this.excess = payloadEnd < bytes.length;
    }
    return payloadEnd === start ? undefined : copyOut(bytes, start, payloadEnd);
  }
}

function copyOut(bytes: Buffer, start: number, end: number): Buffer {
  const own = Buffer.allocUnsafe(end - start);
  bytes.copy(own, 0, start, end);
  return own;
}

/** Extensions and trailers are ignored, and so is only as much of them as this. */
const MAX_EXTENSION_BYTES = 4096;
const MAX_TRAILER_BYTES = 65_536;
const MAX_SIZE_DIGITS = 13;

const SIZE = 0;
const EXTENSION = 1;
const SIZE_LF = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const TRAILER_START = 6;
const TRAILER = 7;
const TRAILER_LF = 8;
const END_LF = 9;
const DONE = 10;

const CR = 0x0d;
const LF = 0x0a;

/**
 * Chunked framing, taken off in place: payloads are moved together over the framing between them,
 * so that a read that holds hundreds of chunks (one for each event) still gives one buffer.
 */
class ChunkedDecoder {
  #phase = SIZE;
  /** Of the chunk: its size while that is read, then what is left of it. */
  #left = 0;
  #digits = 0;
  #ignored = 0;
  /** Where the payload of the last `decode` ended, and where its framing did. */
  payloadEnd = 0;
  position = 0;

  get done(): boolean {
    return this.#phase === DONE;
  }

  /** Moves the payload of `bytes` from `start` on together at `start`. Throws ProtocolError. */
  decode(bytes: Buffer, start: number): void {
    let at = start;
    let to = start;
    while (at < bytes.length && this.#phase !== DONE) {
      if (this.#phase === DATA) {
        const end = Math.min(at + this.#left, bytes.length);
        if (to !== at) bytes.copyWithin(to, at, end);
        to += end - at;
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#phase = DATA_CR;
      } else {
        this.#framing(bytes[at++] ?? 0);
      }
    }
    this.payloadEnd = to;
    this.position = at;
  }

  #framing(byte: number): void {
    switch (this.#phase) {
      case SIZE:
        this.#size(byte);
        return;
      case EXTENSION:
        if (byte === CR) this.#phase = SIZE_LF;
        else this.#ignore(byte, MAX_EXTENSION_BYTES);
        return;
      case SIZE_LF:
        expect(byte, LF);
        this.#phase = this.#left === 0 ? TRAILER_START : DATA;
        this.#ignored = 0;
        this.#digits = 0;
        return;
      case DATA_CR:
        expect(byte, CR);
        this.#phase = DATA_LF;
        return;
      case DATA_LF:
        expect(byte, LF);
        this.#phase = SIZE;
        return;
      case TRAILER_START:
        if (byte === CR) {
          this.#phase = END_LF;
          return;
        }
        this.#phase = TRAILER;
        this.#ignore(byte, MAX_TRAILER_BYTES);
        return;
      case TRAILER:
        if (byte === CR) this.#phase = TRAILER_LF;
        else this.#ignore(byte, MAX_TRAILER_BYTES);
        return;
      case TRAILER_LF:
        expect(byte, LF);
        this.#phase = TRAILER_START;
        return;
      case END_LF:
        expect(byte, LF);
        this.#phase = DONE;
        return;
    }
  }

  #size(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== -1) {
      if (++this.#digits > MAX_SIZE_DIGITS) throw new ProtocolError('a chunk size is too long');
      this.#left = this.#left * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw new ProtocolError('a chunk has no size');
    if (byte === CR) this.#phase = SIZE_LF;
    else if (byte === 0x3b || byte === 0x20 || byte === 0x09) this.#phase = EXTENSION;
    else throw new ProtocolError('a chunk size is not hexadecimal');
  }

  #ignore(byte: number, limit: number): void {
    if (byte < 0x20 && byte !== 0x09) throw new ProtocolError('a control character between chunks');
    if (++this.#ignored > limit) throw new ProtocolError('too much text between chunks');
  }
}

function expect(byte: number, wanted: number): void {
  if (byte !== wanted) throw new ProtocolError('a chunk does not end where its size says');
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
