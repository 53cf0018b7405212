/** The HTTP server of Node, listening: nothing is served before somebody begins. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from './limits.js';

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** From now on connections are the caller's, who closes the server. */
  begin(): Server;
  /** Where nobody has begun. */
  close(): void;
}

interface ListenerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  limits: Limits;
}

/** Of every connection, also of those that another process accepts. Finds readers that vanished without a word. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 30_000 } as const;

/** Rejects with the error of `listen` as Node says it. */
export async function openListener({ host, port, limits }: ListenerOptions): Promise<Listener> {
  const server = createServer({
    headersTimeout: limits.headersMs,
    // Bodies are timed where they are read; this ends unread ones.
    requestTimeout: limits.bodyMs + limits.headersMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    maxHeaderSize: limits.headerBytes,
    // Checked by the guard, which answers in the dialect.
    requireHostHeader: false,
    ...KEEP_ALIVE,
  });
  const refuse = (socket: Socket) => socket.destroy();
  server.on('connection', refuse);
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  let hasBegun = false;
  return {
    host,
    port: typeof address === 'object' && address !== null ? address.port : port,
    begin() {
      hasBegun = true;
      return server.off('connection', refuse);
    },
    close() {
      if (!hasBegun) server.close();
    },
  };
}

/** Where a gateway that listens on all addresses of the machine is reached from it. */
export function addressOf(host: string, port: number): string {
  const shown = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
