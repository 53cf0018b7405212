/** An upstream over HTTP: any endpoint that speaks one of the dialects. */
import type { DialectName, Effort } from '../core/conversation.js';
import { GatewayError } from '../core/errors.js';
import type { ModelEvent } from '../core/events.js';
import { isObject } from '../core/is-object.js';
import { isDeeper } from '../core/json-text.js';
import { LossLog } from '../core/losses.js';
import type { Dialect, WireHeaders } from '../dialects/shared/dialect.js';
import type { Quirks } from '../dialects/shared/quirks.js';
import type { ToolNames } from '../dialects/shared/tool-names.js';
import { writeJson } from '../dialects/shared/write-json.js';
import { readAll } from '../transport/http-client/http-client.js';
import type { HttpRequest } from '../transport/http-client/types.js';
import { CredentialConcealer } from './conceal-credential.js';
import { decodeStream } from './decode-stream.js';
import { type Endpoint, endpointHeaders, endpointUrl, modelListRequest } from './endpoint.js';
import { untilFirstChunk } from './first-chunk.js';
import { estimatedUsage, ForwardedStream, OWN_NAMES, usageIn } from './forwarded-stream.js';
import { passThrough } from './pass-through.js';
import { withinOutputLimit } from './quirks/output-limit.js';
import type { QuirkSource } from './quirks/quirk-source.js';
import { readModelList } from './read-model-list.js';
import { servedBy } from './served-by.js';
import type { TokenMeter } from './token-meter.js';
import type { ToolExtensionCache } from './tool-extension-cache.js';
import type {
  ForwardedAnswer,
  ForwardRequest,
  ListedModel,
  PassRequest,
  RequestTrace,
  SideRequest,
  Upstream,
  UpstreamAnswer,
  UpstreamRequest,
} from './upstream.js';

interface HttpUpstreamOptions {
  name: string;
  region?: string | undefined;
  dialect: Dialect;
  endpoint: Endpoint;
  client: HttpSender;
  quirks: QuirkSource;
  timeouts: Timeouts;
  meter: TokenMeter;
  extensions: ToolExtensionCache;
}

/** The part of an HTTP client that an upstream uses. */
interface HttpSender {
  request(request: HttpRequest): Promise<HttpAnswer>;
}

interface HttpAnswer {
  status: number;
  headers: WireHeaders;
  body: AsyncIterable<Buffer>;
}

interface Timeouts {
  connectMs: number;
  /** Until the status line: local models read a long prompt for minutes. */
  headersMs: number;
  idleMs: number;
}

const CONNECT_MS = 10_000;

/** `silenceMs`: the longest that an upstream may say nothing. */
export function timeoutsOf(silenceMs: number): Timeouts {
  return { connectMs: CONNECT_MS, headersMs: silenceMs, idleMs: silenceMs };
}

const EVENT_STREAM = 'text/event-stream';
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;
/** A whole answer, or an error page. */
const BODY_LIMIT = 64 * 1024 * 1024;

/** Above the nesting that requests may have, far below what a stack can take. */
const ANSWER_DEPTH = 500;
/** A 400 may name one thing after another; each fix is remembered, so this is met once. */
const MAX_FIXES = 5;
/** The client's headers that mean the same upstream, where the upstream speaks the client's dialect. */
const FORWARDED: Record<DialectName, readonly string[]> = {
  'anthropic-messages': ['anthropic-version', 'anthropic-beta'],
  'openai-chat': ['openai-beta'],
  'openai-responses': ['openai-beta'],
};
const BYTE_LANE_PATH: Record<DialectName, string> = {
  'anthropic-messages': '/v1/messages',
  'openai-chat': '/chat/completions',
  'openai-responses': '/responses',
};

const KEPT_URLS = 16;

export class HttpUpstream implements Upstream {
  readonly name: string;
  readonly dialect: DialectName;
  readonly region?: string;
  readonly served: NonNullable<Upstream['served']>;
  readonly #options: HttpUpstreamOptions;
  readonly #extensions: ToolExtensionCache;
  readonly #concealer: CredentialConcealer;
  /** By path, of which a dialect has a few; those with an id in them are as many as there are ids. */
  readonly #urls = new Map<string, URL>();

  constructor(options: HttpUpstreamOptions) {
    this.name = options.name;
    this.dialect = options.dialect.name;
    if (options.region !== undefined) this.region = options.region;
    this.served = servedBy(options.endpoint, this.dialect);
    this.#options = options;
    this.#extensions = options.extensions;
    this.#concealer = new CredentialConcealer(options.endpoint);
  }

  forwards(model: string): boolean {
    return this.#options.quirks.isPlain(model);
  }

  async call(call: UpstreamRequest): Promise<UpstreamAnswer> {
    const { quirks } = this.#options;
    for (let fixes = 0; ; fixes++) {
      const used = quirks.of(call.model);
      try {
        return await this.#try(call, used);
      } catch (error) {
        const worthFixing = error instanceof GatewayError && fixes < MAX_FIXES && !call.signal.aborted;
        if (!worthFixing || !quirks.learn(call.model, error, used)) throw error;
      }
    }
  }

  async countTokens(call: UpstreamRequest): Promise<number> {
    if (this.dialect === 'anthropic-messages') {
      const counted = await this.#askForTokens(call);
      if (counted !== undefined) return counted;
    }
    return this.#options.meter.estimate(call.model, call.request).tokens;
  }

  async listModels(signal: AbortSignal): Promise<readonly ListedModel[]> {
    const { client, dialect, endpoint, timeouts } = this.#options;
    const { status, body } = await client.request({
      method: 'GET',
      ...modelListRequest(endpoint, dialect.name),
      signal,
      connectTimeoutMs: timeouts.connectMs,
      headersTimeoutMs: timeouts.headersMs,
      idleTimeoutMs: timeouts.idleMs,
    });
    const answer = parseBody(await readAll(body, BODY_LIMIT));
    if (status !== 200)
      throw new GatewayError('upstream_failed', `The upstream answered ${status} to the list of models.`);
    return readModelList(answer) ?? [];
  }

  async forward(call: ForwardRequest): Promise<ForwardedAnswer | UpstreamAnswer> {
    const { dialect } = this.#options;
    const response = await this.#send(BYTE_LANE_PATH[dialect.name], {}, call.body, call);
    const contentType = response.headers['content-type'] ?? (call.stream ? EVENT_STREAM : 'application/json');
    if (contentType.includes(EVENT_STREAM) !== call.stream) {
      return { losses: [], batches: await this.#decoded(response, OWN_NAMES, call.trace) };
    }
    const { status } = response;
    if (!call.stream) {
      // Only what it can be: the answer is served from the console's origin.
      const whole = JSON_TYPE.test(contentType) ? contentType : 'application/json';
      return { status, contentType: whole, ...(await this.#checked(response, call)) };
    }
    const options = {
      trace: call.trace,
      concealer: this.#concealer,
      verbatim: call.verbatim === true,
      promptTokens: this.#promptTokens(call),
    };
    const stream = await ForwardedStream.open(dialect, response.body, options);
    return {
      ...(stream.id === undefined ? {} : { id: stream.id }),
      status,
      contentType: contentType.startsWith(EVENT_STREAM) ? contentType : EVENT_STREAM,
      chunks: stream.chunks(),
      usage: () => stream.usage(),
      failure: (error, requestId) => stream.failure(error, requestId),
    };
  }

  async ask(call: SideRequest): Promise<ForwardedAnswer> {
    const response = await this.#send(call.path, {}, call.body, call, call);
    const { status } = response;
    const { dialect } = this.#options;
    if (isEventStream(response.headers)) {
      const options = { trace: call.trace, concealer: this.#concealer, verbatim: true };
      const stream = await ForwardedStream.open(dialect, response.body, options);
      const failure = (error: GatewayError, requestId: string) => stream.failure(error, requestId);
      const usage = () => stream.usage();
      return { status, contentType: EVENT_STREAM, chunks: stream.chunks(), usage, failure };
    }
    const bytes = await readAll(response.body, BODY_LIMIT);
    call.trace?.upstreamChunk(bytes);
    const usage = () => usageIn(dialect.egress.decodeResponse(parseBody(bytes), OWN_NAMES));
    return { status, contentType: 'application/json', chunks: once(bytes), usage };
  }

  pass(call: PassRequest): Promise<ForwardedAnswer> {
    const { name, dialect, endpoint, client, timeouts } = this.#options;
    const send = (request: HttpRequest) => client.request(request);
    const own = { name, dialect: dialect.name, endpoint, timeouts, concealer: this.#concealer, send };
    return passThrough(own, call);
  }

  async #try(call: UpstreamRequest, quirks: Quirks): Promise<UpstreamAnswer> {
    const { egress } = this.#options.dialect;
    const losses = new LossLog();
    const request = quirks.thoughtSignatures ? this.#extensions.restore(call.request) : call.request;
    const { path, headers, body, names } = egress.encodeRequest(withinOutputLimit(request, quirks, losses), {
      model: call.model,
      quirks: call.efforts === undefined ? quirks : withEfforts(quirks, call.efforts),
      losses,
    });
    const sent = this.#send(path, headers, writeJson(body), call);
    // Handled below, unless something before that throws.
    sent.catch(() => {});
    // While the request is on its way: it takes longer the longer the history is.
    const estimate = this.#estimate(call);
    const response = await sent;
    const extensions = quirks.thoughtSignatures ? this.#extensions : undefined;
    const batches = await this.#decoded(response, names, call.trace, extensions);
    return { losses: losses.list(), batches, ...(isEventStream(response.headers) ? estimate : {}) };
  }

  async #decoded(
    response: HttpAnswer,
    names: ToolNames,
    trace: RequestTrace | undefined,
    extensions?: ToolExtensionCache,
  ): Promise<UpstreamAnswer['batches']> {
    const { egress } = this.#options.dialect;
    if (isEventStream(response.headers)) {
      return untilFirstChunk(
        decodeStream(response.body, egress.createStreamDecoder(names), this.#concealer, trace, extensions),
      );
    }
    const { events } = await this.#whole(response, names, trace);
    extensions?.remember(events);
    return once(events);
  }

  /** Only a stream of a dialect that counts at its end needs one. */
  #estimate(call: UpstreamRequest): Pick<UpstreamAnswer, 'promptTokens' | 'settle'> {
    if (!call.request.stream || this.dialect === 'anthropic-messages') return {};
    const { meter } = this.#options;
    const { model } = call;
    const estimate = meter.estimate(model, call.request);
    return {
      promptTokens: estimate.tokens,
      settle: (usage) =>
        meter.observe(model, estimate, usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens),
    };
  }

  /** Where the upstream may leave them out and they have to be known. */
  #promptTokens({ model, metered }: ForwardRequest): number | undefined {
    return metered && this.#options.meter.estimate(model, metered).tokens;
  }

  /** The upstream's own count; undefined where it does not offer one. */
  async #askForTokens(call: UpstreamRequest): Promise<number | undefined> {
    const { dialect, quirks } = this.#options;
    const target = { model: call.model, quirks: quirks.of(call.model), losses: new LossLog() };
    const { path, headers, body } = dialect.egress.encodeRequest({ ...call.request, stream: false }, target);
    const { max_tokens: _max, stream: _stream, ...counted } = body;
    try {
      const response = await this.#send(`${path}/count_tokens`, headers, writeJson(counted), call);
      const answer = parseBody(await readAll(response.body, BODY_LIMIT));
      return isObject(answer) && typeof answer.input_tokens === 'number' ? answer.input_tokens : undefined;
    } catch {
      return undefined;
    }
  }

  /** A whole answer that is one: an error in its place rejects. */
  async #whole(
    response: HttpAnswer,
    names: ToolNames,
    trace?: RequestTrace,
    verbatim = false,
  ): Promise<{ bytes: Buffer; body: unknown; events: ModelEvent[] }> {
    const bytes = await readAll(response.body, BODY_LIMIT);
    trace?.upstreamChunk(bytes);
    const body = parseBody(bytes);
    if (verbatim && isBegun(body)) return { bytes, body, events: [] };
    const events = this.#options.dialect.egress.decodeResponse(body, names);
    const failed = events.find((event) => event.type === 'error');
    if (failed !== undefined) throw this.#concealer.error(failed.error);
    return { bytes, body, events };
  }

  /** The bytes of a whole answer, given out once they are known to be one. */
  async #checked(
    response: HttpAnswer,
    call: ForwardRequest,
  ): Promise<Pick<ForwardedAnswer, 'id' | 'chunks' | 'usage'>> {
    const { trace, verbatim } = call;
    const { bytes, body, events } = await this.#whole(response, OWN_NAMES, trace, verbatim === true);
    const promptTokens = this.#promptTokens(call);
    const usage = promptTokens === undefined ? usageIn(events) : estimatedUsage(events, promptTokens);
    const id = isObject(body) && typeof body['id'] === 'string' ? { id: body['id'] } : {};
    return { ...id, chunks: once(bytes), usage: () => usage };
  }

  /** The same object for the same path: what a client does for an address is done once. */
  #urlOf(path: string): URL {
    const url = this.#urls.get(path) ?? endpointUrl(this.#options.endpoint, path);
    if (this.#urls.size < KEPT_URLS) this.#urls.set(path, url);
    return url;
  }

  /** Resolves with a 2xx answer; anything else rejects in neutral words. */
  async #send(
    path: string,
    headers: Record<string, string>,
    body: Uint8Array | string | undefined,
    call: Pick<UpstreamRequest, 'headers' | 'signal' | 'trace' | 'propagated'>,
    { method, query = '' }: Pick<SideRequest, 'method' | 'query'> = { method: 'POST' },
  ): Promise<HttpAnswer> {
    const { client, dialect, endpoint, name, timeouts } = this.#options;
    const url = query === '' ? this.#urlOf(path) : endpointUrl(endpoint, path, query);
    call.trace?.outbound({ upstream: name, dialect: dialect.name, url: url.href, body: body ?? '' });
    const response = await client.request({
      method,
      url,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        accept: 'application/json, text/event-stream',
        ...headers,
        ...pick(call.headers, FORWARDED[dialect.name]),
        ...call.propagated,
        ...endpointHeaders(endpoint, dialect.name),
      },
      ...(body === undefined ? {} : { body }),
      signal: call.signal,
      connectTimeoutMs: timeouts.connectMs,
      headersTimeoutMs: timeouts.headersMs,
      idleTimeoutMs: timeouts.idleMs,
    });
    call.trace?.upstreamHead(response.status, response.headers);
    if (response.status >= 200 && response.status < 300) return response;
    const bytes = await readAll(response.body, BODY_LIMIT);
    call.trace?.upstreamChunk(bytes);
    const error = dialect.egress.decodeError(response.status, response.headers, parseBody(bytes));
    throw this.#concealer.error(error);
  }
}

const narrowed = new WeakMap<Quirks, WeakMap<readonly Effort[], Quirks>>();

/** The same object for the same pair: what was encoded for a model is found by its quirks. */
function withEfforts(quirks: Quirks, efforts: readonly Effort[]): Quirks {
  const byEfforts = narrowed.get(quirks) ?? new WeakMap<readonly Effort[], Quirks>();
  narrowed.set(quirks, byEfforts);
  const known = byEfforts.get(efforts) ?? { ...quirks, efforts };
  byEfforts.set(efforts, known);
  return known;
}

/** An answer in the background is asked for again by its id. */
function isBegun(body: unknown): boolean {
  return isObject(body) && (body['status'] === 'queued' || body['status'] === 'in_progress');
}

function isEventStream(headers: WireHeaders): boolean {
  return headers['content-type']?.includes(EVENT_STREAM) ?? false;
}

async function* once<T>(item: T): AsyncGenerator<T> {
  yield item;
}

/** A text where it is no JSON, or nests too deep to be written again. */
function parseBody(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  try {
    const value: unknown = JSON.parse(text);
    return isDeeper(value, ANSWER_DEPTH) ? text : value;
  } catch {
    return text;
  }
}

function pick(headers: WireHeaders, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
