/**
 * A request of any route, passed on as it came: its bytes out, the upstream's bytes back, whatever its
 * status. The client's credential and everything else in its headers but what the route needs stay here.
 */
import type { DialectName, JsonObject, Usage } from '../core/conversation.js';
import { GatewayError } from '../core/errors.js';
import { isObject } from '../core/is-object.js';
import type { WireHeaders } from '../dialects/shared/dialect.js';
import { countOf } from '../dialects/shared/read.js';
import { readAll } from '../transport/http-client/http-client.js';
import type { HttpRequest } from '../transport/http-client/types.js';
import type { CredentialConcealer } from './conceal-credential.js';
import { type Endpoint, endpointHeaders, endpointUrl } from './endpoint.js';
import type { ForwardedAnswer, PassRequest } from './upstream.js';

interface PassOptions {
  name: string;
  dialect: DialectName;
  endpoint: Endpoint;
  send(request: HttpRequest): Promise<{ status: number; headers: WireHeaders; body: AsyncIterable<Buffer> }>;
  timeouts: { connectMs: number; headersMs: number; idleMs: number };
  concealer: CredentialConcealer;
}

/** Of the client's headers, those that say what is asked for. */
const FORWARDED = ['accept', 'anthropic-version', 'anthropic-beta', 'openai-beta', 'idempotency-key'];

/** A whole answer, or an error page. */
const BODY_LIMIT = 64 * 1024 * 1024;
/** Of a stream, where its figures stand. */
const TAIL_BYTES = 32 * 1024;

/** Rejects where there is no answer, or one that leads elsewhere. */
export async function passThrough(options: PassOptions, call: PassRequest): Promise<ForwardedAnswer> {
  const { name, dialect, endpoint, timeouts, concealer } = options;
  const { method, body, contentType, headers, signal, trace } = call;
  const url = urlOf(endpoint, call);
  trace?.outbound({ upstream: name, dialect, url: url.href, body: shown(body, contentType) });
  const response = await options.send({
    method,
    url,
    headers: {
      accept: '*/*',
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...Object.fromEntries(FORWARDED.flatMap((each) => (headers[each] ? [[each, headers[each]]] : []))),
      ...endpointHeaders(endpoint, dialect),
    },
    ...(body === undefined ? {} : { body }),
    signal,
    connectTimeoutMs: timeouts.connectMs,
    headersTimeoutMs: timeouts.headersMs,
    idleTimeoutMs: timeouts.idleMs,
  });
  const { status } = response;
  trace?.upstreamHead(status, response.headers);
  const type = response.headers['content-type'] ?? 'application/octet-stream';
  if (status >= 300 && status < 400) {
    await readAll(response.body, BODY_LIMIT);
    throw new GatewayError(
      'upstream_failed',
      `The upstream ${name} answered ${status} and named another address, which is not followed. Check its base_url.`,
    );
  }
  const isWhole = status >= 400 || /\bjson\b/.test(type.replace(/jsonl|x-ndjson/, ''));
  if (!isWhole) {
    const tail = new Tail();
    return {
      status,
      contentType: type,
      chunks: watched(response.body, tail),
      usage: () => usageIn(tail.text()),
    };
  }
  const bytes = await readAll(response.body, BODY_LIMIT);
  trace?.upstreamChunk(bytes);
  const clean = status >= 400 ? concealer.bytes(bytes) : bytes;
  return { status, contentType: type, chunks: once(clean), usage: () => usageOf(parsed(bytes)) };
}

/** Behind the `base_url`, and with nothing of the query in the place of what stands there. */
function urlOf(endpoint: Endpoint, { path, query = '' }: PassRequest): URL {
  const url = endpointUrl(endpoint, path);
  const own = new Set(url.searchParams.keys());
  for (const [name, value] of new URLSearchParams(query)) {
    if (!own.has(name)) url.searchParams.append(name, value);
  }
  return url;
}

/** Recordings are texts; files and sound would only fill them. */
function shown(body: Uint8Array | undefined, contentType = ''): Uint8Array | string {
  if (body === undefined) return '';
  return /\bjson\b/.test(contentType) ? body : `[${body.length} bytes of ${contentType.split(';')[0]}]`;
}

async function* watched(body: AsyncIterable<Buffer>, tail: Tail): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    tail.push(chunk);
    yield chunk;
  }
}

async function* once<T>(item: T): AsyncGenerator<T> {
  yield item;
}

class Tail {
  #chunks: Buffer[] = [];
  #size = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const [first] = this.#chunks;
    if (first === undefined || this.#size - first.length < TAIL_BYTES) return;
    this.#chunks.shift();
    this.#size -= first.length;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/** The last figures in a stream of events. */
function usageIn(text: string): Partial<Usage> | undefined {
  const lines = text.split('\n').filter((line) => line.startsWith('data:') && line.includes('"usage"'));
  for (const line of lines.toReversed()) {
    const usage = usageOf(parsed(Buffer.from(line.slice('data:'.length))));
    if (usage !== undefined) return usage;
  }
  return undefined;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** As the routes of different providers say it; of a total alone all is input. */
function usageOf(body: unknown): Partial<Usage> | undefined {
  const usage = isObject(body) ? (body['usage'] ?? body['meta']) : undefined;
  const tokens = isObject(usage) && isObject(usage['tokens']) ? usage['tokens'] : usage;
  if (!isObject(tokens)) return undefined;
  const input = firstCount(tokens, ['prompt_tokens', 'input_tokens']);
  const output = firstCount(tokens, ['completion_tokens', 'output_tokens']);
  const total = firstCount(tokens, ['total_tokens']);
  if (input === undefined && output === undefined && total === undefined) return undefined;
  return {
    inputTokens: input ?? Math.max(0, (total ?? 0) - (output ?? 0)),
    outputTokens: output ?? 0,
  };
}

function firstCount(from: JsonObject, names: readonly string[]): number | undefined {
  for (const name of names) {
    const count = countOf(from[name]);
    if (count !== undefined) return count;
  }
  return undefined;
}
