/**
 * One GET, for checks. Not `fetch`: that refuses some ports and a password in the address, and
 * hides the code of a failure in a chain of causes. Redirects are reported, never followed, so that
 * a credential goes to the address it is meant for.
 */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { readModelList } from '../../upstreams/read-model-list.js';

export type GetResult =
  | { kind: 'answered'; status: number; headers: IncomingHttpHeaders; body: string; ms: number }
  /** `code` is the system's or the TLS library's; `ETIMEDOUT` also for a server that is too slow. */
  | { kind: 'failed'; code: string };

interface GetOptions {
  headers?: Readonly<Record<string, string>>;
  timeoutMs: number;
}

/** More than the longest list of models. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** Never rejects. */
export function httpGet(url: URL, { headers = {}, timeoutMs }: GetOptions): Promise<GetResult> {
  const started = performance.now();
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const fail = (error: Error): void => {
      const code = signal.aborted ? 'ETIMEDOUT' : 'code' in error ? String(error.code) : error.message;
      resolve({ kind: 'failed', code });
    };
    const request = send(url, { headers: { ...headers }, agent: false, signal }, (response) => {
      const ms = Math.round(performance.now() - started);
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
        if (body.length > MOST_CHARACTERS) response.destroy(new Error('the answer is too long'));
      });
      response.on('error', fail);
      response.on('end', () =>
        resolve({ kind: 'answered', status: response.statusCode ?? 0, headers: response.headers, body, ms }),
      );
    });
    request.on('error', fail);
    request.end();
  });
}

/** The names in a list of models; undefined where `text` is none. */
export function modelIds(text: string): string[] | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  return readModelList(body)?.map(({ id }) => id);
}
