/**
 * `fetch` for the SDK's HTTP transports, on the gateway's own client: through its proxy settings,
 * bounded in size, without a clock of its own (calls have theirs), and never following a redirect.
 *
 * Headers of the configuration are added here and not given to the SDK, which would send them to
 * an authorisation server of another origin too.
 */
import { type HttpClient, readAll } from '../../../transport/http-client/http-client.js';
import type { ResponseBody } from '../../../transport/http-client/types.js';
import { FloodBrake } from './flood-brake.js';
import type { McpLimits } from './limits.js';
import type { FetchLike } from './sdk.js';

/** How long the event is that a stream of server-sent events is in the middle of. */

const LF = 0x0a;
const CR = 0x0d;
/** A line may end with LF, CR or both; CR and LF together are one end and no blank line. */
const BLANK_LINES = ['\n\n', '\n\r', '\r\r'] as const;

export class EventBounds {
  #bytes = 0;
  #last: number | undefined;

  /** Bytes since the last blank line, this chunk included. */
  take(chunk: Buffer): number {
    const [first] = chunk;
    const continues = this.#last === LF ? first === LF || first === CR : this.#last === CR && first === CR;
    if (continues) this.#bytes = 0;
    const blank = Math.max(...BLANK_LINES.map((text) => chunk.lastIndexOf(text)));
    this.#bytes = blank === -1 ? this.#bytes + chunk.length : chunk.length - blank;
    this.#last = chunk.at(-1);
    return this.#bytes;
  }
}

interface BoundedFetchOptions {
  client: HttpClient;
  /** Where the configured headers may go. */
  origin: string;
  headers: Readonly<Record<string, string>>;
  limits: McpLimits;
  onStatus(status: number, url: URL): void;
  /** Makes a client for one request to another host than the server's own; without, `client` goes anywhere. */
  elsewhere?(url: URL, signal: AbortSignal): Promise<HttpClient>;
  /** No answer came. */
  onFailure?(error: unknown): void;
}

const METHODS = ['GET', 'POST', 'DELETE', 'HEAD'] as const;
const NULL_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
const NO_LIMIT = 0;

export function createBoundedFetch(options: BoundedFetchOptions): FetchLike {
  const { client, origin, headers: configured, limits, onStatus } = options;
  /** Streams of answers, by the id of the request: ended when the request is given up. */
  const open = new Map<number, AbortController>();
  const brake = new FloodBrake(limits);

  return async (address, init = {}) => {
    const url = new URL(address);
    const method = METHODS.find((each) => each === (init.method ?? 'GET').toUpperCase());
    if (method === undefined) throw new TypeError(`${init.method} is not used by MCP`);
    if (url.origin !== origin && url.protocol !== 'https:' && origin.startsWith('https:')) {
      throw new Error(`The server sends us to ${url.origin}, which is not https`);
    }
    const body = textOf(init.body);
    const { request: id, cancelled, isAnswered } = readIds(body);
    if (cancelled !== undefined) open.get(cancelled)?.abort();

    const given = new AbortController();
    const signal = init.signal ? AbortSignal.any([init.signal, given.signal]) : given.signal;
    if (id !== undefined) open.set(id, given);
    const forget = (): void => {
      if (id !== undefined && open.get(id) === given) open.delete(id);
    };
    const waits = isAnswered || method === 'GET';
    let other: HttpClient | undefined;
    try {
      if (url.hostname !== new URL(origin).hostname) other = await options.elsewhere?.(url, signal);
      const response = await (other ?? client).request({
        method,
        url,
        headers: headersOf(init, url.origin === origin ? configured : {}),
        ...(body === undefined ? {} : { body }),
        signal,
        connectTimeoutMs: limits.connectMs,
        headersTimeoutMs: waits ? NO_LIMIT : limits.noticeMs,
        idleTimeoutMs: waits ? NO_LIMIT : limits.noticeMs,
      });
      onStatus(response.status, url);
      const answer = { status: response.status, headers: response.headers };
      if (isEventStream(response.headers) && response.status === 200 && other === undefined) {
        const events = boundedEvents({
          body: response.body,
          limits,
          brake,
          given: given.signal,
          id,
          forget,
          isResumable: !new Headers(init.headers).has('mcp-method'),
        });
        return new Response(events, answer);
      }
      const ok = response.status < 300;
      const bytes = await readAtMost(response.body, ok ? limits.messageBytes : limits.errorBodyBytes);
      forget();
      if (NULL_BODY.has(response.status)) return new Response(null, answer);
      if (bytes !== undefined) return new Response(new Uint8Array(bytes), answer);
      if (!ok) return new Response('(an error text that is too long)', answer);
      if (id === undefined) throw new Error(tooLarge(limits));
      return new Response(JSON.stringify(refusalOf(id, limits)), {
        status: 200,
        headers: { 'content-type': 'application/json' },
      });
    } catch (error) {
      forget();
      options.onFailure?.(error);
      throw error;
    } finally {
      await other?.close();
    }
  };
}

interface EventsOptions {
  body: ResponseBody;
  limits: McpLimits;
  brake: FloodBrake;
  /** The request was given up. */
  given: AbortSignal;
  id: number | undefined;
  forget: () => void;
  /** Of the older era: the SDK asks for the rest of a stream that broke. */
  isResumable: boolean;
}

/**
 * The stream of an answer that is given up or too large ends with an answer of our own: without
 * one the SDK would take it for a broken connection and ask the server for the rest.
 */
function boundedEvents(options: EventsOptions): ReadableStream<Uint8Array> {
  const { body, limits, brake, given, id, forget, isResumable } = options;
  const bounds = new EventBounds();
  const finish = (
    controller: ReadableStreamDefaultController<Uint8Array>,
    answers: readonly object[],
  ): void => {
    forget();
    const events = answers.map((answer) => `data: ${JSON.stringify(answer)}\n\n`);
    controller.enqueue(new TextEncoder().encode(`\n\n${events.join('')}`));
    controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let next: IteratorResult<Buffer, undefined>;
        try {
          next = await body.next();
        } catch (error) {
          if (given.aborted && id !== undefined) return finish(controller, [emptyResult(id)]);
          if (!isResumable && id !== undefined) return finish(controller, [brokenOff(id)]);
          forget();
          throw error;
        }
        if (next.done) {
          // Behind the answer, where it came, this one is for nobody.
          if (!isResumable && id !== undefined) return finish(controller, [brokenOff(id)]);
          forget();
          controller.close();
          return;
        }
        if (bounds.take(next.value) > limits.messageBytes) {
          await body.return();
          if (id === undefined) throw new Error(tooLarge(limits));
          return finish(controller, [refusalOf(id, limits), emptyResult(id)]);
        }
        controller.enqueue(next.value);
        const wait = brake.take(next.value.length);
        if (wait > 0) await new Promise<void>((resolve) => setTimeout(resolve, wait));
      },
      async cancel() {
        forget();
        await body.return();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Undefined where it is more; the connection is dropped then. */
async function readAtMost(body: ResponseBody, limit: number): Promise<Buffer | undefined> {
  let size = 0;
  const counted = async function* (): AsyncGenerator<Buffer, void, void> {
    for await (const part of body) {
      size += part.length;
      yield part;
    }
  };
  try {
    return await readAll(counted(), limit);
  } catch (error) {
    if (size > limit) return undefined;
    throw error;
  }
}

function refusalOf(id: number, limits: McpLimits): object {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: -32_603, message: `The answer was thrown away: ${tooLarge(limits)}` },
  };
}

function brokenOff(id: number): object {
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: -32_603,
      message: 'The connection ended before the answer. Whether the call took effect is not known.',
    },
  };
}

function emptyResult(id: number): object {
  return { jsonrpc: '2.0', id, result: {} };
}

function tooLarge({ messageBytes }: McpLimits): string {
  return `the server sent a message over the limit of ${messageBytes / 1024 / 1024} MB`;
}

function isEventStream(headers: Readonly<Record<string, string>>): boolean {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase() === 'text/event-stream';
}

function headersOf(init: RequestInit, configured: Readonly<Record<string, string>>): Record<string, string> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(configured)) headers.set(name, value);
  // `fetch` itself would set it for a form.
  if (init.body instanceof URLSearchParams && !headers.has('content-type')) {
    headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
  }
  return Object.fromEntries(headers);
}

function textOf(body: RequestInit['body']): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('Only texts and forms are sent to MCP servers');
}

/** What the message is about, so that a request that is given up does not leave its stream open. */
function readIds(body: string | undefined): Ids {
  const none: Ids = { isAnswered: false };
  if (body === undefined || !body.startsWith('{')) return none;
  const message: unknown = JSON.parse(body);
  if (typeof message !== 'object' || message === null || !('method' in message)) return none;
  if ('id' in message) {
    return { isAnswered: true, ...(typeof message.id === 'number' ? { request: message.id } : {}) };
  }
  if (message.method !== 'notifications/cancelled' || !('params' in message)) return none;
  const { params } = message;
  if (typeof params !== 'object' || params === null || !('requestId' in params)) return none;
  return typeof params.requestId === 'number' ? { ...none, cancelled: params.requestId } : none;
}

interface Ids {
  /** Of a request. Those of the SDK's own, which it knows when they end, are texts and left out. */
  request?: number;
  cancelled?: number;
  isAnswered: boolean;
}
