/** One HTTP/1.x answer from the reads of a socket, whatever their boundaries. */
import { ChunkedDecoder } from './chunked-decoder.js';
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
