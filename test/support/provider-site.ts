/** A provider of messages on loopback: keeps what came, and answers what the test says. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { closeAfterTest } from './cleanup.js';
import { deferred } from './gate.js';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  bytes: Buffer;
}

export interface ProviderReply {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface ProviderSite {
  host: string;
  url: string;
  received: readonly Received[];
  /** The next one that nobody has taken. */
  next(): Promise<Received>;
}

/** `reply` that gives nothing leaves the request hanging. */
export async function startProvider(
  reply: (received: Received) => ProviderReply | undefined = () => ({}),
): Promise<ProviderSite> {
  const received: Received[] = [];
  let taken = 0;
  let came = deferred<void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, bytes, body: bytes.toString('utf8') };
      received.push(one);
      const answer = reply(one);
      if (answer !== undefined) {
        const { status = 200, body = {} } = answer;
        response.writeHead(status, { 'content-type': 'application/json', ...answer.headers });
        response.end(JSON.stringify(body));
      }
      came.resolve();
      came = deferred<void>();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTest(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const host = `127.0.0.1:${address.port}`;
  return {
    ...{ host, url: `http://${host}`, received },
    async next() {
      while (taken >= received.length) await came.promise;
      taken += 1;
      const one = received[taken - 1];
      if (one === undefined) throw new Error('nothing came');
      return one;
    },
  };
}
