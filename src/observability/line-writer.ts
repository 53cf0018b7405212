/**
 * Lines to a file descriptor, without ever waiting for who reads them: a terminal that was stopped
 * or a full pipe behind stderr must not stop the streams. While a write runs, lines collect and go
 * together with the next. It never throws; a closed descriptor has no reader.
 */
import { write } from 'node:fs';

/** Characters that may wait; what comes then is dropped and counted. */
const WAITING_LIMIT = 8 * 1024 * 1024;
const RETRY_MS = 10;

export class LineWriter {
  readonly #fd: number;
  #waiting = '';
  #writing = false;
  #dropped = 0;
  #onIdle: (() => void)[] = [];

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    if (this.#waiting.length > WAITING_LIMIT) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += line;
    if (!this.#writing) this.#next();
  }

  /** Resolves when everything is written or given up, or after `ms`. */
  idle(ms: number): Promise<void> {
    if (!this.#writing) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onIdle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #next(): void {
    if (this.#dropped > 0) {
      this.#waiting += `{"level":"warn","dropped":${this.#dropped},"msg":"log lines were dropped: nobody reads them"}\n`;
      this.#dropped = 0;
    }
    this.#writing = this.#waiting !== '';
    if (!this.#writing) {
      for (const resolve of this.#onIdle.splice(0)) resolve();
      return;
    }
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#send(bytes);
  }

  #send(bytes: Buffer): void {
    write(this.#fd, bytes, (error, written) => {
      // A pipe without room, where the other end made it non-blocking.
      if (error?.code === 'EAGAIN') setTimeout(() => this.#send(bytes), RETRY_MS);
      else if (error === null && written < bytes.length) this.#send(bytes.subarray(written));
      else this.#next();
    });
  }
}
