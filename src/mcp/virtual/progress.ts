/**
 * Tells the client that a call is alive: what its tool reports, that a person is asked, and now and
 * then that it still runs. Clients that time a silent call start their clock again with each.
 */
import type { VirtualLimits } from './limits.js';
import type { ServerContext } from './sdk.js';

export class ProgressReporter {
  readonly #request: ServerContext['mcpReq'];
  readonly #limits: VirtualLimits;
  readonly #token: string | number | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  /** What was said too soon after another one waits here for its time. */
  #later: NodeJS.Timeout | undefined;
  #message: string;
  #count = 0;
  #sentAt = 0;

  /** Without a token in the request nothing is sent. The caller ends it. */
  constructor({ mcpReq }: ServerContext, limits: VirtualLimits, message: string) {
    this.#request = mcpReq;
    this.#limits = limits;
    this.#token = mcpReq._meta?.progressToken;
    this.#message = message;
    if (this.#token !== undefined) this.#timer = setInterval(() => this.#send(), limits.progressMs);
    this.#timer?.unref();
  }

  /** `urgent`: also right after another one. */
  say(message: string, { urgent = false }: { urgent?: boolean } = {}): void {
    this.#message = message.slice(-this.#limits.progressChars);
    const left = this.#sentAt + this.#limits.progressGapMs - performance.now();
    if (urgent || left <= 0) this.#send();
    else this.#later ??= setTimeout(() => this.#send(), left).unref();
  }

  end(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#later);
  }

  #send(): void {
    clearTimeout(this.#later);
    this.#later = undefined;
    if (this.#token === undefined || this.#request.signal.aborted) return;
    this.#count += 1;
    this.#sentAt = performance.now();
    const params = { progressToken: this.#token, progress: this.#count, message: this.#message };
    // The connection may be gone: the answer itself finds that out.
    this.#request.notify({ method: 'notifications/progress', params }).catch(() => {});
  }
}
