import { setMaxListeners } from 'node:events';

const { HttpClient } = await import(process.env.CLIENT);
const client = new HttpClient();
/** One for all: in the gateway each request has one already, made by the server. */
const { signal } = new AbortController();
setMaxListeners(0, signal);

export async function post(url, body) {
  const answer = await client.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body,
    signal,
    connectTimeoutMs: 10_000,
    headersTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
  });
  return answer.body;
}
