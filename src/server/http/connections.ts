/** Which exchanges run on which connection. When a connection goes, so does its work. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientClosed, type Exchange } from './exchange.js';

/** An exchange is over when its handler is, and its answer is out or its connection gone. */
interface Progress {
  worked: boolean;
  written: boolean;
}

export interface ClientConnection {
  readonly socket: Socket;
  /** More than one when a client pipelines. */
  readonly exchanges: Map<Exchange, Progress>;
  /** Nothing more is read from it; written as soon as what runs has been answered. */
  lastWords: string | undefined;
  broken: boolean;
}

interface ConnectionEvents {
  /** Told once of each exchange. */
  onDone(exchange: Exchange): void;
  /** Nothing runs on the connection any more; it may be closed already. */
  onIdle(connection: ClientConnection): void;
}

export class Connections {
  readonly #open = new WeakMap<Duplex, ClientConnection>();
  readonly #running = new Set<Exchange>();
  readonly #stallMs: number;
  readonly #events: ConnectionEvents;
  #whenIdle: (() => void)[] = [];

  /** `stallMs`: a reader that takes nothing of a finished answer for this long is given up. */
  constructor(stallMs: number, events: ConnectionEvents) {
    this.#stallMs = stallMs;
    this.#events = events;
  }

  get running(): ReadonlySet<Exchange> {
    return this.#running;
  }

  /**
   * Listens to the socket and not to the response: a response that is queued behind another one of
   * the same connection gets no event of its end.
   */
  open(socket: Socket): void {
    const connection: ClientConnection = {
      socket,
      exchanges: new Map(),
      lastWords: undefined,
      broken: false,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      for (const exchange of [...connection.exchanges.keys()]) {
        exchange.abort(clientClosed());
        this.#progress(connection, exchange, 'written');
      }
    });
  }

  of(socket: Duplex): ClientConnection | undefined {
    return this.#open.get(socket);
  }

  /** `work` never rejects. */
  begin(exchange: Exchange, work: () => Promise<void>): void {
    const connection = this.#open.get(exchange.request.socket);
    if (connection === undefined) return;
    connection.exchanges.set(exchange, { worked: false, written: false });
    this.#running.add(exchange);
    exchange.response.once('finish', () => {
      // Node says so too when the socket was destroyed under what was still to be written.
      if (connection.socket.destroyed) exchange.abort(clientClosed());
      this.#progress(connection, exchange, 'written');
    });
    void work().then(() => this.#progress(connection, exchange, 'worked'));
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

  #progress(connection: ClientConnection, exchange: Exchange, step: keyof Progress): void {
    const progress = connection.exchanges.get(exchange);
    if (progress === undefined) return;
    progress[step] = true;
    if (!progress.worked) return;
    if (!progress.written) {
      // Node ends the socket then, and sets its own time-out when the answer is out.
      connection.socket.setTimeout(this.#stallMs);
      return;
    }
    connection.exchanges.delete(exchange);
    this.#running.delete(exchange);
    this.#events.onDone(exchange);
    if (connection.exchanges.size === 0) this.#events.onIdle(connection);
    else connection.socket.setTimeout(0);
    if (this.#running.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}
