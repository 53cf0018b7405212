/** One socket to an upstream, and its current user: a request, or the pool. */
import type { Socket } from 'node:net';

export interface ConnectionUser {
  /** `bytes` may be overwritten, and is not to be kept: the next read uses the same memory. */
  onRead(bytes: Buffer): void;
  /** Once; without an error when the peer closed in order. */
  onClosed(error: Error | undefined): void;
}

/**
 * Where every socket reads to. A read is handled to its end before the next one starts, so one
 * buffer serves all; reads into buffers of their own cost 64 KB of allocation each.
 */
const READ_BUFFER = Buffer.allocUnsafe(65_536);
const KEEP_ALIVE_PROBE_MS = 60_000;

export class UpstreamConnection {
  /** For sockets that read into the shared buffer: given when the socket is made. */
  readonly onread = {
    buffer: READ_BUFFER,
    callback: (size: number): boolean => {
      this.#read(READ_BUFFER.subarray(0, size));
      return true;
    },
  };
  user: ConnectionUser | undefined;
  /** The origin and way that it was made for. */
  readonly key: string;
  readonly encrypted: boolean;
  #socket: Socket | undefined;
  #closed = false;
  readonly #onGone: (connection: UpstreamConnection) => void;

  constructor(key: string, encrypted: boolean, onGone: (connection: UpstreamConnection) => void) {
    this.key = key;
    this.encrypted = encrypted;
    this.#onGone = onGone;
  }

  /** `reading`: the socket was made with `onread`; another one gives its data as events. */
  attach(socket: Socket, reading: 'onread' | 'events'): void {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    if (reading === 'events') socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', (error) => this.#tellClosed(error));
    socket.on('end', () => this.#tellClosed(undefined));
    socket.on('close', () => {
      this.#tellClosed(undefined);
      this.#onGone(this);
    });
  }

  get usable(): boolean {
    return !this.#closed && this.#socket !== undefined && !this.#socket.destroyed && this.#socket.writable;
  }

  /** Head and body in one system call; `flushed` when the system has taken them. */
  send(head: string, body: Uint8Array | undefined, flushed: () => void): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    const written = (error?: Error | null) => {
      if (error === undefined || error === null) flushed();
    };
    if (body === undefined) {
      socket.write(head, 'latin1', written);
      return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body, written);
    socket.uncork();
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** An idle connection does not keep the process alive. */
  setIdle(idle: boolean): void {
    if (idle) this.#socket?.unref();
    else this.#socket?.ref();
  }

  /** At once; the user is notified only of an error. */
  destroy(error?: Error): void {
    if (error === undefined) this.user = undefined;
    this.#socket?.destroy(error);
  }

  #read(bytes: Buffer): void {
    if (this.user !== undefined) this.user.onRead(bytes);
    else this.destroy();
  }

  #tellClosed(error: Error | undefined): void {
    this.#closed = true;
    const user = this.user;
    this.user = undefined;
    user?.onClosed(error);
  }
}

/** Node turns a longer delay into one millisecond. */
const MAX_DELAY_MS = 2_147_483_647;

/** Nothing for a limit that is no limit: zero, infinite, or beyond what a timer can count. */
export function startTimer(ms: number, fire: () => void): NodeJS.Timeout | undefined {
  return ms > 0 && ms <= MAX_DELAY_MS ? setTimeout(fire, ms) : undefined;
}
