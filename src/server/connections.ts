/** Which exchanges run on which connection. When a connection goes, so does its work. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientClosed, type Exchange } from './exchange.js';

export interface Connection {
  readonly socket: Socket;
  /** More than one when a client pipelines. */
  readonly exchanges: Set<Exchange>;
  /** Nothing more is read from it; written as soon as what runs has been answered. */
  lastWords: string | undefined;
  broken: boolean;
}

export class Connections {
  readonly #open = new WeakMap<Duplex, Connection>();
  readonly #running = new Set<Exchange>();
  readonly #onDone: (exchange: Exchange) => void;
  #whenIdle: (() => void)[] = [];

  /** `onDone` is told once of each exchange, when its answer is out or its connection is gone. */
  constructor(onDone: (exchange: Exchange) => void) {
    this.#onDone = onDone;
  }

  get running(): ReadonlySet<Exchange> {
    return this.#running;
  }

  /**
   * Listens to the socket and not to the response: a response that is queued behind another one of
   * the same connection hears nothing of its end.
   */
  open(socket: Socket): void {
    const connection: Connection = { socket, exchanges: new Set(), lastWords: undefined, broken: false };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      for (const exchange of connection.exchanges) {
        exchange.abort(clientClosed());
        this.#done(connection, exchange);
      }
    });
  }

  of(socket: Duplex): Connection | undefined {
    return this.#open.get(socket);
  }

  begin(exchange: Exchange, onLast: (connection: Connection) => void): void {
    const connection = this.#open.get(exchange.request.socket);
    if (connection === undefined) return;
    connection.exchanges.add(exchange);
    this.#running.add(exchange);
    exchange.response.once('finish', () => {
      this.#done(connection, exchange);
      if (connection.exchanges.size === 0) onLast(connection);
    });
  }

  /** Resolves when nothing runs any more, or after `ms`. */
  idle(ms: number): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#whenIdle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #done(connection: Connection, exchange: Exchange): void {
    if (!connection.exchanges.delete(exchange)) return;
    this.#running.delete(exchange);
    this.#onDone(exchange);
    if (this.#running.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}
