import { Agent, request } from 'undici';

const dispatcher = new Agent({ pipelining: 1, keepAliveTimeout: 30_000, connections: null });

export async function post(url, body) {
  const answer = await request(url, {
    method: 'POST',
    dispatcher,
    headers: { 'content-type': 'application/json' },
    body,
  });
  return answer.body;
}
