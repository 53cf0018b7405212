/** Requests to the gateway that serves this page. */
import type { ErrorWire } from '../../../src/server/console-api/wire/sign-in.js';

/** The gateway refused. `body` is the whole answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    const error = isErrorBody(body) ? body.error : undefined;
    super(error?.message ?? `The gateway answered with ${status}.`);
    this.status = status;
    this.code = error?.code ?? null;
    this.param = error?.param ?? null;
    this.body = body;
  }
}

/** No answer: the network, or the gateway, is gone. Whether the request arrived is not known. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

type RefusedListener = (path: string) => void;
const refused = new Set<RefusedListener>();

/** Called with the path of every request that is answered with 401. */
export function onRefused(listener: RefusedListener): () => void {
  refused.add(listener);
  return () => refused.delete(listener);
}

export type Fetch = (path: string, init: RequestInit) => Promise<Response>;

let sendAs: Fetch = (path, init) => fetch(path, init);

/** Every request of the page goes through `send` from then on. */
export function setPageFetch(send: Fetch): void {
  sendAs = send;
}

/** As `fetch`, with what the gateway knows this page by. */
export const pageFetch: Fetch = (path, init) => sendAs(path, init);

/** Rejects with ApiError or Unreachable; with what the signal says where it has fired. */
export type Request = <T>(method: Method, path: string, body?: unknown, signal?: AbortSignal) => Promise<T>;

export const request: Request = (method, path, body, signal) =>
  requestBy(pageFetch, method, path, body, signal);

/** For tests with their own `fetch`. */
export function requestOf(fetchPort: Fetch): Request {
  return (method, path, body, signal) => requestBy(fetchPort, method, path, body, signal);
}

async function requestBy<T>(
  fetchPort: Fetch,
  method: Method,
  path: string,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<T> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetchPort(path, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    text = await answer.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable('The gateway does not answer.', { cause: error });
  }
  const value = parse(text);
  if (answer.status === 401) for (const listener of refused) listener(path);
  if (!answer.ok) throw new ApiError(answer.status, value);
  return value as T;
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  request<T>('GET', path, undefined, signal);
export const post = <T>(path: string, body: unknown = {}): Promise<T> => request<T>('POST', path, body);
export const patch = <T>(path: string, body: unknown): Promise<T> => request<T>('PATCH', path, body);
export const remove = <T>(path: string): Promise<T> => request<T>('DELETE', path);

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isErrorBody(body: unknown): body is ErrorWire {
  return typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'object';
}
