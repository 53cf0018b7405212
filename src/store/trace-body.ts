/**
 * What was recorded of a request, as the store keeps it: the bytes of bodies and pieces as they were
 * read and written, after a head that says where each begins. As JSON in JSON each of them would be
 * decoded, copied for its redaction, escaped and encoded again, which took longer than the request.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, brotliDecompress, gunzip, constants as zlib } from 'node:zlib';
import { encodeChunk, type RecordedRequest, type TracePayload } from '../core/trace-payload.js';
import { redactJson } from './json.js';

interface Secrets {
  redact: (text: string) => string;
  /** Whether there is surely nothing to redact in any part of this UTF-8. */
  isClean: (utf8: Uint8Array) => boolean;
}

interface Head {
  cut: boolean;
  requests: {
    inbound: Omit<NonNullable<TracePayload['inbound']>, 'body'> | null;
    attempts: Omit<TracePayload['attempts'][number], 'body'>[];
  };
  /** When each piece went by. */
  times: number[];
  /** Which attempt each piece came from; null for what was written to the client. */
  sources: (number | null)[];
  /** Bytes of each body and piece: of the inbound request if there is one, the attempts, the timeline. */
  lengths: number[];
}

/** The first byte of a body in this form. Older ones are JSON under gzip, which begins with another. */
const FORM = 1;
const HEAD_LENGTH_BYTES = 4;

/**
 * A sixth of the time that gzip takes, and half its size: the inbound request and the outbound one say
 * the same, further apart than gzip looks back. So little that a thread of the pool would cost more,
 * but for the few that do not fit into the memory that is kept.
 */
const COMPRESSION = {
  [zlib.BROTLI_PARAM_QUALITY]: 0,
  [zlib.BROTLI_PARAM_LGWIN]: 18,
};

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
const decompressOld = promisify(gunzip);

/**
 * Secrets are taken out here: what it gives may be written. Of a large recording no piece of work holds the
 * event loop for longer than one of its bodies takes.
 */
export async function encodeTraceBody(recorded: RecordedRequest, secrets: Secrets): Promise<Buffer> {
  const { cut, inbound, attempts, timeline } = recorded;
  const parts: Part[] = [];
  if (inbound !== null) parts.push(inbound.body);
  for (const { body } of attempts) parts.push(body);
  for (const { data } of timeline) parts.push(data);
  const requests = { inbound: inbound && withoutBody(inbound), attempts: attempts.map(withoutBody) };
  const head = {
    cut,
    requests: redactJson(requests, secrets.redact),
    times: timeline.map(({ ms }) => ms),
    sources: timeline.map(({ attempt }) => attempt ?? null),
  };
  // One look at all of them together mostly shows that there is nothing to take out.
  let { whole, textsAt } = join(head, parts);
  if (!secrets.isClean(whole.subarray(textsAt))) {
    const clean: Part[] = [];
    for (const part of parts) {
      if (part.length > LONG_PART) await nextTurn();
      clean.push(redactPart(part, secrets));
    }
    if (parts.some(({ length }) => length > LONG_PART)) await nextTurn();
    ({ whole } = join(head, clean));
  }
  const params = { ...COMPRESSION, [zlib.BROTLI_PARAM_SIZE_HINT]: whole.length };
  const isKept = whole.length <= SCRATCH_BYTES;
  const compressed = isKept ? brotliCompressSync(whole, { params }) : await compress(whole, { params });
  return Buffer.concat([Buffer.of(FORM), compressed]);
}

/** Of bytes or characters: what a redaction reads in about a millisecond. */
const LONG_PART = 64 * 1024;

export async function decodeTraceBody(stored: Uint8Array): Promise<TracePayload> {
  if (stored[0] !== FORM) return JSON.parse((await decompressOld(stored)).toString('utf8'));
  const whole = await decompress(stored.subarray(1));
  const headEnd = HEAD_LENGTH_BYTES + whole.readUInt32LE(0);
  const head: Head = JSON.parse(whole.toString('utf8', HEAD_LENGTH_BYTES, headEnd));
  const lengths = head.lengths.values();
  let at = headEnd;
  const next = (): Buffer => {
    const from = at;
    at += lengths.next().value ?? 0;
    return whole.subarray(from, at);
  };
  const { cut, requests, times, sources } = head;
  const { inbound, attempts } = requests;
  return {
    version: 1,
    cut,
    inbound: inbound && { ...inbound, body: next().toString('utf8') },
    attempts: attempts.map((attempt) => ({ ...attempt, body: next().toString('utf8') })),
    timeline: times.map((ms, index) => {
      const attempt = sources[index] ?? null;
      return {
        ms,
        ...(attempt === null ? { from: 'gateway' } : { from: 'upstream', attempt }),
        data: encodeChunk(next()),
      };
    }),
  };
}

function withoutBody<T extends { body: unknown }>({ body: _, ...rest }: T): Omit<T, 'body'> {
  return rest;
}

type Part = Uint8Array | string;

function redactPart(part: Part, { redact, isClean }: Secrets): Part {
  if (typeof part === 'string') return redact(part);
  if (isClean(part)) return part;
  // Where a character is cut in two and nothing is secret, the bytes stay as they are.
  const text = Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('utf8');
  const redacted = redact(text);
  return redacted === text ? part : redacted;
}

/** Valid until the next call, and the next turn of the event loop, unless it is longer than what is kept. */
function join(head: object, parts: readonly Part[]): { whole: Buffer; textsAt: number } {
  const lengths = parts.map((part) => (typeof part === 'string' ? Buffer.byteLength(part) : part.length));
  const headText = JSON.stringify({ ...head, lengths });
  const headLength = Buffer.byteLength(headText);
  const textsAt = HEAD_LENGTH_BYTES + headLength;
  const whole = scratch(lengths.reduce((sum, length) => sum + length, textsAt));
  whole.writeUInt32LE(headLength);
  whole.write(headText, HEAD_LENGTH_BYTES);
  let at = textsAt;
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string') whole.write(part, at);
    else whole.set(part, at);
    at += lengths[index] ?? 0;
  }
  return { whole, textsAt };
}

/** Most bodies are put together in the same memory, one after the other: new pages for each cost more than the copy. */
const SCRATCH_BYTES = 256 * 1024;
let kept: Buffer | undefined;

function scratch(bytes: number): Buffer {
  if (bytes > SCRATCH_BYTES) return Buffer.allocUnsafe(bytes);
  kept ??= Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  return kept.subarray(0, bytes);
}
