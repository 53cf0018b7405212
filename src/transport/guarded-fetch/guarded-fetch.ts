/**
 * GET on behalf of a model: public web servers only, whatever the URL, its redirects or its names
 * say. Every hop is checked before it is made, and the connection goes to the address that was
 * checked.
 */
import { GatewayError } from '../../core/errors.js';
import { untilAborted } from '../../core/stopping.js';
import { HttpClient } from '../http-client/http-client.js';
import type { HttpResponse, ResponseBody } from '../http-client/types.js';
import { pinnedLookup, type Resolver } from './address-policy.js';
import { FetchProblem, problemOf } from './fetch-problem.js';
import { HostCheck } from './host-check.js';
import { parseFetchUrl } from './url-policy.js';

/** A time limit that stands still while a person is asked. */
class Deadline {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #reason: () => Error;
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Runs from the start. `reason` is what the signal fires with. */
  constructor(ms: number, reason: () => Error) {
    this.signal = this.#controller.signal;
    this.#leftMs = ms;
    this.#reason = reason;
    this.resume();
  }

  resume(): void {
    if (this.#timer !== undefined) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#controller.abort(this.#reason()), this.#leftMs);
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#startedAt));
  }
}

const FETCH_LIMITS = {
  redirects: 5,
  bytes: 10_485_760,
  /** Of an answer that is an error. */
  errorBytes: 8192,
  totalMs: 30_000,
  connectMs: 10_000,
} as const;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** On every hop: they reveal nothing about the requester. */
const OWN_HEADERS = {
  'user-agent': 'toolgate-webfetch',
  'accept-encoding': 'gzip, deflate, br',
} as const;

export interface GuardedFetchOptions {
  signal: AbortSignal;
  /** Sent to the first origin alone: dropped for good when a redirect leaves it. */
  headers?: Readonly<Record<string, string>>;
  accept?: string;
  /** Hosts (`host` or `host:port`) that may be in a private network. */
  allowPrivate?: readonly string[];
  /** Before the first request to a further host; may take its time. What it throws ends the fetch. */
  beforeHost?(url: URL): Promise<void>;
  /** What the caller cannot use, as a sentence; the body is then not read. */
  refuseContent?(head: FetchHead): string | undefined;
  maxBytes?: number;
  totalMs?: number;
  resolver?: Resolver;
  /** Where the proxy variables are read from. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Certificate authorities to trust instead of the built-in ones (PEM). */
  ca?: string;
}

export interface FetchHead {
  status: number;
  headers: Readonly<Record<string, string>>;
}

export interface FetchedPage extends FetchHead {
  /** Of the page itself, after all redirects. */
  url: URL;
  /** Unpacked. Of an error answer (status 400 and up) only the beginning. */
  body: Buffer;
  /** The URLs asked, in order. */
  hops: readonly string[];
}

/** Resolves with any status but a redirect that can be followed. Rejects with FetchProblem, or what `beforeHost` threw. */
export async function guardedFetch(address: string, options: GuardedFetchOptions): Promise<FetchedPage> {
  const { totalMs = FETCH_LIMITS.totalMs } = options;
  const deadline = new Deadline(
    totalMs,
    () => new FetchProblem('timeout', `The page took longer than ${totalMs / 1000} s. Try again later.`),
  );
  try {
    return await new GuardedFetch(options, deadline).follow(parseFetchUrl(address));
  } catch (error) {
    if (options.signal.aborted) throw new FetchProblem('aborted', 'The fetch was stopped.', error);
    if (deadline.signal.aborted) throw deadline.signal.reason;
    // A proxy variable that cannot be used.
    if (error instanceof GatewayError) throw new FetchProblem('unreachable', error.message, error);
    throw error;
  } finally {
    deadline.pause();
  }
}

class GuardedFetch {
  readonly #options: GuardedFetchOptions;
  readonly #deadline: Deadline;
  readonly #signal: AbortSignal;
  readonly #hosts: HostCheck;

  constructor(options: GuardedFetchOptions, deadline: Deadline) {
    this.#options = options;
    this.#deadline = deadline;
    this.#signal = AbortSignal.any([options.signal, deadline.signal]);
    this.#hosts = new HostCheck(options);
  }

  async follow(start: URL): Promise<FetchedPage> {
    const hops: string[] = [];
    const hosts = new Set([start.hostname]);
    let headers = this.#options.headers ?? {};
    let url = start;
    while (hops.length <= FETCH_LIMITS.redirects) {
      url.hash = '';
      const addresses = await this.#hosts.addressesOf(url, this.#signal);
      if (!hosts.has(url.hostname)) await this.#announce(url);
      hosts.add(url.hostname);
      hops.push(url.href);
      const answer = await this.#ask(url, addresses, headers);
      if ('page' in answer) return { ...answer.page, url, hops };
      if (answer.next.origin !== url.origin) headers = {};
      url = answer.next;
    }
    throw new FetchProblem(
      'redirects',
      `The page redirects more than ${FETCH_LIMITS.redirects} times, last to ${url.href}. Fetch a later address directly.`,
    );
  }

  async #announce(url: URL): Promise<void> {
    const { beforeHost } = this.#options;
    if (beforeHost === undefined) return;
    this.#deadline.pause();
    try {
      await untilAborted(beforeHost(url), this.#signal);
    } finally {
      this.#deadline.resume();
    }
  }

  async #ask(
    url: URL,
    addresses: readonly string[] | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ page: FetchHead & { body: Buffer } } | { next: URL }> {
    const { ca, env = process.env, accept = '*/*' } = this.#options;
    const client = new HttpClient({
      maxIdlePerHost: 0,
      ...(addresses === undefined ? { env } : { env: {}, lookup: pinnedLookup(addresses) }),
      ...(ca === undefined ? {} : { ca }),
    });
    try {
      const response = await client.request({
        method: 'GET',
        url,
        headers: { ...OWN_HEADERS, accept, ...headers },
        signal: this.#signal,
        connectTimeoutMs: FETCH_LIMITS.connectMs,
        // The time limit over all of it is the deadline's.
        headersTimeoutMs: 0,
        idleTimeoutMs: 0,
      });
      const next = redirectOf(response, url);
      if (next !== undefined) {
        await response.body.return();
        return { next };
      }
      return { page: await this.#read(response) };
    } catch (error) {
      throw problemOf(error, url.host);
    } finally {
      await client.close();
    }
  }

  async #read({ status, headers, body }: HttpResponse): Promise<FetchHead & { body: Buffer }> {
    if (status >= 400) {
      return { status, headers, body: await readUpTo(body, FETCH_LIMITS.errorBytes, 'cut') };
    }
    const problem = this.#options.refuseContent?.({ status, headers });
    if (problem !== undefined) {
      await body.return();
      throw new FetchProblem('unsupported', problem);
    }
    const { maxBytes = FETCH_LIMITS.bytes } = this.#options;
    if (Number(headers['content-length'] ?? 0) > maxBytes) {
      await body.return();
      throw tooLarge(maxBytes);
    }
    return { status, headers, body: await readUpTo(body, maxBytes, 'fail') };
  }
}

function redirectOf({ status, headers }: HttpResponse, from: URL): URL | undefined {
  const { location } = headers;
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  // Header text is Latin-1 on the wire as the client reads it; servers put UTF-8 into it.
  const utf8 = Buffer.from(location, 'latin1').toString('utf8');
  const text = utf8.includes('\ufffd') ? location : utf8;
  if (URL.canParse(text, from.href)) return new URL(text, from);
  throw new FetchProblem('redirects', `${from.host} redirects to something that is not a URL.`);
}

async function readUpTo(body: ResponseBody, limit: number, over: 'cut' | 'fail'): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > limit && over === 'fail') throw tooLarge(limit);
    parts.push(part);
    if (size >= limit && over === 'cut') break;
  }
  const whole = Buffer.concat(parts, size);
  return whole.length > limit ? whole.subarray(0, limit) : whole;
}

function tooLarge(limit: number): FetchProblem {
  return new FetchProblem(
    'too-large',
    `The content is larger than ${Math.round(limit / 1024)} KB, unpacked. Fetch a more specific page.`,
  );
}
