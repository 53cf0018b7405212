/**
 * One WebSocket: messages in, messages out, bounded both ways. A peer that stops reading is not read
 * either, and is given up like a slow reader of HTTP; one that is gone without a word is found by pings.
 */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { type Deferred, deferred } from '../../core/deferred.js';
import { GatewayError } from '../../core/errors.js';
import type { Exchange } from './exchange.js';
import type { Limits } from './limits.js';
import type { StreamClock, Ticking } from './sse-writer.js';

/** Close codes of RFC 6455 that the gateway itself sends. */
export const CLOSE = { done: 1000, policy: 1008, restart: 1012 } as const;

/** A peer that does not answer the closing handshake has this long. */
const CLOSE_MS = 5_000;
/** Header and mask of a short frame of a client. */
const CONTROL_BYTES = 6;

interface SocketEvents {
  onMessage(data: Buffer, isBinary: boolean): void;
  /** Called once. */
  onClose(): void;
}

interface SocketOptions extends SocketEvents {
  clock: StreamClock;
  limits: Pick<Limits, 'bodyBytes' | 'bodyMs' | 'pingMs' | 'stallMs'>;
}

/** Takes the connection of an exchange over. Throws `invalid_request` for a handshake that is none. */
export async function acceptWebSocket(
  exchange: Exchange,
  headers: Readonly<Record<string, string>>,
  limits: Pick<Limits, 'bodyBytes'>,
): Promise<WebSocket> {
  const { request, response, upgrade } = exchange;
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // A few bytes could become a message of any size, and text of models is small.
    perMessageDeflate: false,
    // Answered where the peer also reads.
    autoPong: false,
    maxPayload: limits.bodyBytes,
  });
  const { socket } = request;
  const accepted = new Promise<WebSocket>((resolve, reject) => {
    server.once('wsClientError', ({ message }: Error) => {
      reject(new GatewayError('invalid_request', `This is not a WebSocket handshake: ${message}.`));
    });
    server.once('headers', (lines) => {
      for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
      response.detachSocket(socket);
    });
    server.handleUpgrade(request, socket, upgrade ?? Buffer.alloc(0), resolve);
  });
  const webSocket = await exchange.untilAborted(accepted);
  response.statusCode = 101;
  exchange.upgraded = true;
  return webSocket;
}

export class MessageSocket implements Ticking {
  quietTicks = 0;
  stalledTicks: number | undefined;
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #options: SocketOptions;
  #drained: Deferred<void> | undefined;
  /** The owner takes no more messages for now. */
  #held = false;
  /** Pings since the peer was last heard. */
  #unanswered = 0;
  /** Of `socket.bytesRead`: all that belongs to whole messages and control frames. */
  #wholeBytes: number;
  /** Since when a message has been on its way. */
  #partialSince: number | undefined;
  #closed = false;
  #isGivenUp = false;

  constructor(webSocket: WebSocket, socket: Socket, options: SocketOptions) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#options = options;
    this.#wholeBytes = socket.bytesRead;
    options.clock.add(this);
    socket.on('drain', () => this.#onDrain());
    webSocket
      .on('message', (data, isBinary) => this.#onMessage(data, isBinary))
      .on('ping', (data) => {
        this.#onControl(data);
        if (this.behind) return;
        webSocket.pong(data);
        this.#keepsUp();
      })
      .on('pong', (data) => this.#onControl(data))
      // The library closes with the code that the mistake has; `close` follows.
      .on('error', () => {})
      .once('close', () => this.#onClose());
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  /** The peer was cut off because it did not take what was sent. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** The peer has yet to take what was sent. */
  get behind(): boolean {
    return !this.#closed && this.#socket.writableNeedDrain;
  }

  /** False when the peer is behind: await `drained` before the next. */
  send(text: string): boolean {
    if (!this.isOpen) return true;
    this.#webSocket.send(text);
    return this.#keepsUp();
  }

  /** Resolves when the peer has caught up, or is gone. */
  drained(): Promise<void> {
    if (!this.behind) return Promise.resolve();
    this.#drained ??= deferred();
    return this.#drained.promise;
  }

  /** Calls `listener` when everything that was sent so far was handed to the connection; false where the peer is gone. */
  onSent(listener: (taken: boolean) => void): void {
    if (!this.isOpen) {
      listener(false);
      return;
    }
    // An empty write comes behind all others.
    this.#socket.write('', () => listener(!this.#socket.destroyed));
  }

  /** While `held`, nothing is read: what the peer sends waits on its own side. */
  hold(held: boolean): void {
    this.#held = held;
    this.#regulate();
  }

  close(code: (typeof CLOSE)[keyof typeof CLOSE], reason: string): void {
    if (!this.isOpen) return;
    this.#webSocket.close(code, reason);
    this.#webSocket.resume();
    setTimeout(() => this.terminate(), CLOSE_MS).unref();
  }

  terminate(): void {
    this.#webSocket.terminate();
  }

  onStall(): void {
    this.#isGivenUp = true;
    this.terminate();
  }

  /** The heartbeat: it is never set back, so it comes at every interval. */
  onQuiet(): void {
    const { limits } = this.#options;
    if (this.#webSocket.isPaused || this.behind) return;
    if (this.#isSlow(limits.bodyMs)) {
      this.close(CLOSE.policy, 'The message did not arrive in time. Send it again.');
      return;
    }
    if (this.#unanswered * limits.pingMs > limits.stallMs) {
      this.terminate();
      return;
    }
    this.#unanswered += 1;
    if (!this.isOpen) return;
    this.#webSocket.ping();
    this.#keepsUp();
  }

  /** After each write. A peer that is behind is not read, and its time runs. */
  #keepsUp(): boolean {
    if (!this.behind) return true;
    this.stalledTicks ??= 0;
    this.#regulate();
    return false;
  }

  #isSlow(limitMs: number): boolean {
    if (this.#socket.bytesRead <= this.#wholeBytes) {
      this.#partialSince = undefined;
      return false;
    }
    this.#partialSince ??= performance.now();
    return performance.now() - this.#partialSince > limitMs;
  }

  #onMessage(data: WebSocket.RawData, isBinary: boolean): void {
    this.#heard();
    this.#wholeBytes = this.#socket.bytesRead;
    this.#partialSince = undefined;
    this.#options.onMessage(bytesOf(data), isBinary);
  }

  #onControl(data: Buffer): void {
    this.#heard();
    this.#wholeBytes += CONTROL_BYTES + data.length;
  }

  #heard(): void {
    this.#unanswered = 0;
  }

  #onDrain(): void {
    if (this.behind) return;
    this.stalledTicks = undefined;
    this.#drained?.resolve();
    this.#drained = undefined;
    this.#regulate();
  }

  #onClose(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#drained?.resolve();
    this.#options.clock.delete(this);
    this.#options.onClose();
  }

  #regulate(): void {
    const waits = this.#held || this.behind;
    if (waits && !this.#webSocket.isPaused) this.#webSocket.pause();
    else if (!waits && this.#webSocket.isPaused) this.#webSocket.resume();
  }
}

function bytesOf(data: WebSocket.RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
