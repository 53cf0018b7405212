/** Loopback servers for the tests of the HTTP client, at the level of sockets. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';

export interface RawServer {
  port: number;
  url: URL;
  /** Every connection that was ever accepted. */
  sockets: Socket[];
  /** Resolves with the n-th connection, accepted already or not. */
  socket(index: number): Promise<Socket>;
  close(): Promise<void>;
}

const servers: RawServer[] = [];

/** For `afterEach`. */
export async function closeServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close()));
}

export function startServer(handle: (socket: Socket, index: number) => void): Promise<RawServer> {
  return listen(createServer({ noDelay: true }), 'connection', 'http', handle);
}

export function startTlsServer(
  options: TlsOptions,
  handle: (socket: TLSSocket, index: number) => void,
): Promise<RawServer> {
  return listen(createTlsServer(options), 'secureConnection', 'https', handle);
}

async function listen<S extends Socket>(
  server: Server,
  event: string,
  protocol: string,
  handle: (socket: S, index: number) => void,
): Promise<RawServer> {
  const raw: Socket[] = [];
  const sockets: Socket[] = [];
  const waiting = new Map<number, (socket: Socket) => void>();
  server.on('connection', (socket) => raw.push(socket.on('error', () => {})));
  server.on('tlsClientError', () => {});
  server.on(event, (socket: S) => {
    socket.on('error', () => {});
    const index = sockets.push(socket) - 1;
    handle(socket, index);
    waiting.get(index)?.(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const started: RawServer = {
    port,
    url: new URL(`${protocol}://127.0.0.1:${port}/v1/x?q=1`),
    sockets,
    socket: (index) =>
      new Promise((resolve) => {
        const found = sockets[index];
        if (found === undefined) waiting.set(index, resolve);
        else resolve(found);
      }),
    async close() {
      for (const socket of raw) socket.destroy();
      server.close();
      if (server.listening) await once(server, 'close');
    },
  };
  servers.push(started);
  return started;
}

/** Calls back for each whole request on a socket, with its bytes as Latin-1. */
export function onRequest(socket: Socket, answer: (request: string, count: number) => void): void {
  let bytes = Buffer.alloc(0);
  let count = 0;
  socket.on('data', (data) => {
    bytes = Buffer.concat([bytes, data]);
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1] ?? 0);
      const whole = end + 4 + length;
      if (bytes.length < whole) return;
      const request = bytes.toString('latin1', 0, whole);
      bytes = bytes.subarray(whole);
      answer(request, count++);
    }
  });
}

/** Reads what is left, as nobody else does: unread data hide the end. */
export function closed(socket: Socket): Promise<unknown> {
  socket.resume();
  return socket.closed ? Promise.resolve() : once(socket, 'close');
}
