/** Bodies that came compressed although the request did not ask for it. Each read is given out as far as it can be decoded. */
import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { GatewayError } from '../../core/errors.js';
import type { RequestTarget } from './failure.js';
import type { ResponseBody } from './types.js';

/** What one read may unfold to: more is an attack, not an answer. */
const MAX_DECODED_READ_BYTES = 33_554_432;

const ZLIB = { flush: constants.Z_SYNC_FLUSH };

/** The first bytes decide where the name leaves two formats open. */
const DECODERS: Readonly<Record<string, (first: Buffer) => Transform>> = {
  gzip: () => createGunzip(ZLIB),
  'x-gzip': () => createGunzip(ZLIB),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
  // Meant is the zlib format; some servers send the bare one.
  deflate: (first) => (((first[0] ?? 0) & 0x0f) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB)),
};

/** `encoding` is the header's value. Throws GatewayError for one that is not known; the body is then ended. */
export function decodeContent(body: ResponseBody, encoding: string, target: RequestTarget): ResponseBody {
  let decoded = body;
  const names = encoding.toLowerCase().split(',');
  for (const name of names.reverse()) {
    const trimmed = name.trim();
    if (trimmed === '' || trimmed === 'identity') continue;
    const create = DECODERS[trimmed];
    if (create === undefined) {
      void body.return();
      throw new GatewayError(
        'upstream_failed',
        `${target.label} answered with content-encoding ${JSON.stringify(trimmed)}, which the gateway cannot read.`,
      );
    }
    decoded = new DecodedBody(decoded, create, target);
  }
  return decoded;
}

class DecodedBody implements ResponseBody {
  readonly #source: ResponseBody;
  readonly #create: (first: Buffer) => Transform;
  readonly #target: RequestTarget;
  #decoder: Transform | undefined;
  #output: Buffer[] = [];
  #outputBytes = 0;
  #ended = false;
  #failure: Error | undefined;
  /** Wakes the reader that waits for the decoder. */
  #wake: () => void = () => {};

  constructor(source: ResponseBody, create: (first: Buffer) => Transform, target: RequestTarget) {
    this.#source = source;
    this.#create = create;
    this.#target = target;
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    while (!this.#ended) {
      const read = await this.#source.next();
      if (read.done === true) {
        this.#ended = true;
        await this.#finish();
      } else {
        await this.#feed(read.value);
      }
      if (this.#failure !== undefined) {
        await this.return();
        throw this.#failure;
      }
      if (this.#outputBytes > 0) return { done: false, value: this.#takeOutput() };
    }
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#ended = true;
    this.#decoder?.destroy();
    this.#wake();
    return this.#source.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #start(first: Buffer): Transform {
    const decoder = this.#create(first);
    decoder.on('data', (part: Buffer) => this.#onOutput(part));
    decoder.on('error', (error) => this.#fail('its compressed body is broken', error));
    decoder.on('end', () => this.#wake());
    decoder.on('close', () => this.#wake());
    this.#decoder = decoder;
    return decoder;
  }

  #onOutput(part: Buffer): void {
    this.#output.push(part);
    this.#outputBytes += part.length;
    if (this.#outputBytes > MAX_DECODED_READ_BYTES) this.#fail('its compressed body unfolds without end');
  }

  #fail(why: string, cause?: Error): void {
    this.#failure ??= new GatewayError(
      'upstream_failed',
      `The answer of ${this.#target.label} cannot be read: ${why}.`,
      cause === undefined ? {} : { cause },
    );
    this.#decoder?.destroy();
    this.#wake();
  }

  async #feed(bytes: Buffer): Promise<void> {
    const decoder = this.#decoder ?? this.#start(bytes);
    // Past the end of the compressed data: padding.
    if (decoder.readableEnded || decoder.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      decoder.write(bytes, () => resolve());
    });
  }

  async #finish(): Promise<void> {
    const decoder = this.#decoder;
    if (decoder === undefined || decoder.readableEnded || decoder.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      decoder.end();
    });
  }

  #takeOutput(): Buffer {
    const all = Buffer.concat(this.#output, this.#outputBytes);
    this.#output = [];
    this.#outputBytes = 0;
    return all;
  }
}
