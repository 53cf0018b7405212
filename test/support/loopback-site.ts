/** A web server on loopback for the tests of guarded fetches and of the tools that use them. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

export interface TestSite {
  /** `127.0.0.1:PORT` */
  host: string;
  port: number;
  url(path: string): string;
  /** The requests that came, as `METHOD path`. */
  seen: string[];
  headers: IncomingMessage['headers'][];
}

const closers: (() => Promise<void>)[] = [];

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export async function startSite(handle: Handler): Promise<TestSite> {
  const seen: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    response.on('error', () => {});
    handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const host = `127.0.0.1:${port}`;
  return { host, port, url: (path) => `http://${host}${path}`, seen, headers };
}

/** Redirects `/to?ADDRESS` to the address. */
export function redirectHandler(request: IncomingMessage, response: ServerResponse): void {
  const target = decodeURIComponent(request.url?.split('?')[1] ?? '');
  // Raw UTF-8 in the header, as servers send it.
  response.writeHead(302, { location: Buffer.from(target).toString('latin1') }).end();
}

export function closeSitesAfterEach(): void {
  afterEach(async () => {
    await Promise.all(closers.splice(0).map((close) => close()));
  });
}
