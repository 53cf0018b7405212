/** What a request brings: its body, bounded in size and in time, its headers for an engine, its query. */
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { digestOfBody, FORWARD_HEADER } from '../../cluster/forward-claim.js';
import { GatewayError } from '../../core/errors.js';
import type { WireHeaders } from '../../dialects/shared/dialect.js';
import type { Principal } from '../../engines/engine.js';
import { clientClosed, type Exchange } from './exchange.js';
import type { Limits } from './limits.js';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/;
const ENCODINGS = 'gzip, deflate, br';
const MIB = 1024 * 1024;

/** Throws `unsupported_media_type`. A body without a type is taken for JSON, and has to be. */
export function checkContentType(header: string | undefined): void {
  if (header === undefined || header === '') return;
  const [type = '', ...parameters] = header.toLowerCase().split(';');
  if (!JSON_TYPE.test(type.trim())) {
    throw new GatewayError(
      'unsupported_media_type',
      'The content type is not JSON. Send "content-type: application/json".',
    );
  }
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim() === 'charset' && !/^"?utf-?8"?$/.test(value.trim())) {
      throw new GatewayError('unsupported_media_type', 'The charset is not UTF-8. Send the body as UTF-8.');
    }
  }
}

/** Rejects with `too_large`, `timeout`, `unsupported_media_type` or `client_closed`. */
export async function readBody(exchange: Exchange, limits: Limits, mostBytes: number): Promise<Buffer> {
  if (exchange.message !== undefined) return exchange.message.body;
  const limit = bodyLimitOf(exchange.principal, mostBytes);
  const { headers } = exchange.request;
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  const decode = encoding === '' || encoding === 'identity' ? undefined : decoderOf(encoding);
  if (Number(headers['content-length'] ?? 0) > limit.bytes) throw refuse(exchange, tooLarge(limit));
  const bytes = await collect(exchange, limits, limit);
  const { forwarded } = exchange;
  if (forwarded !== undefined && digestOfBody(bytes) !== forwarded.body)
    throw refuse(exchange, notForwarded());
  return decode === undefined ? bytes : decode(bytes, limit);
}

interface BodyLimit {
  bytes: number;
  /** The key whose own limit it is. */
  key?: string;
}

/** A key's own limit holds where it is below that of the server. */
export function bodyLimitOf({ name, bodyLimitMb }: Principal, mostBytes: number): BodyLimit {
  const own = Math.floor((bodyLimitMb ?? Number.POSITIVE_INFINITY) * MIB);
  return own < mostBytes ? { bytes: own, key: name } : { bytes: mostBytes };
}

function collect(exchange: Exchange, limits: Limits, limit: BodyLimit): Promise<Buffer> {
  const { request, response, signal } = exchange;
  if (exchange.awaitsContinue) {
    exchange.awaitsContinue = false;
    response.writeContinue();
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const deadline = performance.now() + limits.bodyMs;
    let size = 0;
    const finish = () => {
      clearTimeout(idle);
      request.off('data', onData).off('end', onEnd);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: GatewayError) => {
      finish();
      reject(refuse(exchange, error));
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit.bytes) fail(tooLarge(limit));
      else if (performance.now() > deadline) fail(tooSlow());
      else {
        chunks.push(chunk);
        idle.refresh();
      }
    };
    const onEnd = () => {
      finish();
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size));
    };
    // The connection is gone, or what came on it was no body.
    const onAbort = () => fail(exchange.failure ?? clientClosed());
    const idle = setTimeout(() => fail(tooSlow()), limits.bodyIdleMs);
    request.on('data', onData).on('end', onEnd);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

/** The rest of an unwanted body follows on the connection. */
function refuse(exchange: Exchange, error: GatewayError): GatewayError {
  exchange.closeAfter = true;
  return error;
}

export function tooLarge({ bytes, key }: BodyLimit, what = ''): GatewayError {
  const limit = Math.round((bytes / MIB) * 100) / 100;
  const raise =
    key === undefined ? 'raise server.body_limit_mb' : `ask for a larger body_limit_mb of the key "${key}"`;
  return new GatewayError(
    'too_large',
    `The body is larger than ${limit} MiB${what}. Send less, or ${raise}.`,
  );
}

/** Of what came as a request of another node and is none. */
export function notForwarded(): GatewayError {
  return new GatewayError(
    'unauthenticated',
    `The header ${FORWARD_HEADER} is for nodes of this cluster, and is not theirs. Send the request without it.`,
  );
}

function tooSlow(): GatewayError {
  return new GatewayError('timeout', 'The body did not arrive in time. Send it again.');
}

type Decode = (bytes: Buffer, limit: BodyLimit) => Promise<Buffer>;

function decoderOf(encoding: string): Decode {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
    case 'deflate':
    case 'br':
      return (bytes, limit) => decompress(encoding, bytes, limit);
    default:
      throw new GatewayError(
        'unsupported_media_type',
        `The content encoding is not one of ${ENCODINGS}. Send the body without one.`,
      );
  }
}

async function decompress(
  encoding: 'gzip' | 'x-gzip' | 'deflate' | 'br',
  bytes: Buffer,
  limit: BodyLimit,
): Promise<Buffer> {
  const zlib = await import('node:zlib');
  const options = { maxOutputLength: limit.bytes };
  try {
    if (encoding === 'br') return await promisify(zlib.brotliDecompress)(bytes, options);
    if (encoding !== 'deflate') return await promisify(zlib.gunzip)(bytes, options);
    // Some clients mean raw deflate by the same name; the zlib header has 8 in its low bits.
    const raw = ((bytes[0] ?? 0) & 0x0f) !== 8;
    return await promisify(raw ? zlib.inflateRaw : zlib.inflate)(bytes, options);
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new GatewayError('invalid_request', `The body is not valid ${encoding} data.`, { cause: error });
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** A client's credentials end here, and so does what is about its own connection. */
const DROPPED: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'x-toolgate-page',
  FORWARD_HEADER,
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);

/** The headers of a request that an engine may see. */
export function clientHeaders(headers: IncomingHttpHeaders): WireHeaders {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string' && !DROPPED.has(name)) kept[name] = value;
  }
  return kept;
}

export function readInteger(
  query: URLSearchParams,
  name: string,
  range: { default: number; min: number; max: number },
): number {
  const text = query.get(name);
  if (text === null) return range.default;
  const value = Number(text);
  if (/^-?\d+$/.test(text) && value >= range.min && value <= range.max) return value;
  throw new GatewayError(
    'invalid_request',
    `${name}: expected a whole number from ${range.min} to ${range.max}.`,
    { param: name },
  );
}

/** An ISO date or time, or milliseconds since the epoch. */
export function readTime(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isSafeInteger(value)) return value;
  throw new GatewayError(
    'invalid_request',
    `${name}: expected a time like 2026-01-31T12:00:00Z, or milliseconds since 1970.`,
    { param: name },
  );
}

/** `1` or `true`; left out, `0` or `false` is off. */
export function readSwitch(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text === null || text === '0' || text === 'false') return false;
  if (text === '1' || text === 'true') return true;
  throw new GatewayError('invalid_request', `${name}: expected 1 or 0.`, { param: name });
}

/** Comma-separated. */
export function readList<T extends string>(
  query: URLSearchParams,
  name: string,
  known: readonly T[],
  fallback: readonly T[],
): readonly T[] {
  const text = query.get(name);
  if (text === null) return fallback;
  return text.split(',').map((part) => {
    const found = known.find((each) => each === part.trim());
    if (found !== undefined) return found;
    throw new GatewayError('invalid_request', `${name}: expected a list of ${known.join(', ')}.`, {
      param: name,
    });
  });
}
