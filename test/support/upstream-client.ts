/** Requests and clients for the tests of the HTTP client. */
import { afterEach } from 'vitest';
import { HttpClient } from '../../src/transport/http-client/http-client.js';
import type { HttpClientOptions, HttpRequest, ResponseBody } from '../../src/transport/http-client/types.js';
import { closeServers } from './socket-server.js';

const clients: HttpClient[] = [];

/** No environment unless given: a proxy of the machine is not the test's. */
export function makeClient(options: HttpClientOptions = {}): HttpClient {
  const client = new HttpClient({ env: {}, ...options });
  clients.push(client);
  return client;
}

export function closeAllAfterEach(): void {
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await closeServers();
  });
}

export function request(url: URL, more: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'GET',
    url,
    headers: {},
    signal: new AbortController().signal,
    connectTimeoutMs: 10_000,
    headersTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    ...more,
  };
}

export async function textOf(body: ResponseBody): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
export const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
