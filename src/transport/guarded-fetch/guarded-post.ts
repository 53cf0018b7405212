/**
 * A request with a body to an address that somebody else chose: https alone, public servers alone, no
 * redirects. Hosts that the operator named may be in a private network and speak plain http.
 */
import { HttpClient } from '../http-client/http-client.js';
import type { Method, ResponseBody } from '../http-client/types.js';
import { pinnedLookup } from './address-policy.js';
import { FetchProblem, problemOf } from './fetch-problem.js';
import { HostCheck, type HostCheckOptions } from './host-check.js';
import { parseFetchUrl } from './url-policy.js';

export interface GuardedPost {
  method?: Method;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
}

export interface PostAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** The beginning of the body, as text. */
  text: string;
}

interface GuardedPostOptions extends HostCheckOptions {
  signal: AbortSignal;
  /** For all of it. */
  totalMs: number;
  /** Certificate authorities to trust instead of the built-in ones (PEM). */
  ca?: string;
}

const CONNECT_MS = 5000;
const ANSWER_BYTES = 65_536;

/** Resolves with any status. Rejects with FetchProblem. */
export async function guardedPost(
  address: string,
  post: GuardedPost,
  options: GuardedPostOptions,
): Promise<PostAnswer> {
  const { env = process.env, totalMs, ca } = options;
  const url = parseFetchUrl(address);
  const hosts = new HostCheck(options);
  if (url.protocol !== 'https:' && !hosts.isListed(url)) {
    const advice = options.fetcher
      ? ` The operator can allow http for a host with ${options.fetcher.setting}.`
      : '';
    throw new FetchProblem('refused', `${url.origin} is not https.${advice}`);
  }
  const patience = AbortSignal.timeout(totalMs);
  const signal = AbortSignal.any([options.signal, patience]);
  let client: HttpClient | undefined;
  try {
    const addresses = await hosts.addressesOf(url, signal);
    client = new HttpClient({
      maxIdlePerHost: 0,
      ...(addresses === undefined ? { env } : { env: {}, lookup: pinnedLookup(addresses) }),
      ...(ca === undefined ? {} : { ca }),
    });
    const { status, headers, body } = await client.request({
      ...{ method: post.method ?? 'POST', url, signal, headers: post.headers, body: post.body },
      // The time limit over all of it is `patience`.
      ...{ connectTimeoutMs: CONNECT_MS, headersTimeoutMs: 0, idleTimeoutMs: 0 },
    });
    return { status, headers, text: await readStart(body) };
  } catch (error) {
    if (options.signal.aborted) throw new FetchProblem('aborted', 'The request was stopped.', error);
    if (patience.aborted) {
      throw new FetchProblem('timeout', `${url.host} did not answer within ${totalMs / 1000} s.`, error);
    }
    throw problemOf(error, url.host);
  } finally {
    await client?.close();
  }
}

async function readStart(body: ResponseBody): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size >= ANSWER_BYTES) break;
  }
  return Buffer.concat(parts).subarray(0, ANSWER_BYTES).toString('utf8');
}
