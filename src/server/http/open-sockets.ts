/** The WebSockets that are open: how many each key has, and how they end with the gateway. */
import { GatewayError } from '../../core/errors.js';
import type { Exchange } from './exchange.js';

/** A few terminals, each with its agents. */
const SOCKETS_A_KEY = 256;

interface OpenSocket {
  /** The request that opened it. */
  readonly opened: Exchange;
  /** Nothing new begins on it; it closes when nothing runs on it any more. */
  drain(): void;
  /** At once. */
  terminate(): void;
}

export class OpenSockets {
  readonly #open = new Map<OpenSocket, string>();
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#open.size;
  }

  /** Throws `rate_limited`. */
  checkRoom(principal: string): void {
    if ((this.#counts.get(principal) ?? 0) < SOCKETS_A_KEY) return;
    throw new GatewayError(
      'rate_limited',
      `The key "${principal}" has ${SOCKETS_A_KEY} WebSockets open. Close one, or use it for several conversations with stream_id.`,
      { retryable: true },
    );
  }

  add(socket: OpenSocket, principal: string): void {
    this.#open.set(socket, principal);
    this.#counts.set(principal, (this.#counts.get(principal) ?? 0) + 1);
  }

  delete(socket: OpenSocket): void {
    const principal = this.#open.get(socket);
    if (principal === undefined) return;
    this.#open.delete(socket);
    const count = (this.#counts.get(principal) ?? 0) - 1;
    if (count > 0) this.#counts.set(principal, count);
    else this.#counts.delete(principal);
  }

  drain(which: (opened: Exchange) => boolean = () => true): void {
    for (const socket of [...this.#open.keys()]) if (which(socket.opened)) socket.drain();
  }

  terminate(): void {
    for (const socket of [...this.#open.keys()]) socket.terminate();
  }
}
