/**
 * A server that sends without end would keep the process busy with nothing else. What it sends is
 * counted, and past the limit it is left unread for the rest of the window: the pipe or the socket
 * fills, and the server waits.
 */
export class FloodBrake {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  #start: number;
  #bytes = 0;

  constructor(
    { floodBytes, floodWindowMs }: { floodBytes: number; floodWindowMs: number },
    now = () => performance.now(),
  ) {
    this.#limit = floodBytes;
    this.#windowMs = floodWindowMs;
    this.#now = now;
    this.#start = now();
  }

  /** Milliseconds to leave it unread; 0 to go on. */
  take(bytes: number): number {
    const now = this.#now();
    if (now - this.#start >= this.#windowMs) {
      this.#start = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    return this.#bytes > this.#limit ? this.#start + this.#windowMs - now : 0;
  }
}
