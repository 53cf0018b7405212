/**
 * A running turn as its reader sees it: pings while nothing else is to be said, and an end at once
 * when the reader goes, also in the middle of a tool.
 */
import type { TurnEvent } from '../../core/events.js';

const PING: readonly TurnEvent[] = [{ type: 'ping' }];
const QUIET = Symbol('quiet');

export interface LiveBatchesOptions {
  source: AsyncGenerator<readonly TurnEvent[], void, void>;
  pingMs: number;
  /** Ends whatever the source waits for. */
  abort(): void;
  /** Exactly once, when the turn is over, however it ended; also when it was never read. */
  onEnd(): void;
}

export class LiveBatches implements AsyncIterable<readonly TurnEvent[]>, AsyncIterator<readonly TurnEvent[]> {
  readonly #options: LiveBatchesOptions;
  #running: Promise<IteratorResult<readonly TurnEvent[], void>> | undefined;
  #ended = false;

  constructor(options: LiveBatchesOptions) {
    this.#options = options;
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly TurnEvent[]> {
    return this;
  }

  async next(): Promise<IteratorResult<readonly TurnEvent[], undefined>> {
    if (this.#ended) return { done: true, value: undefined };
    this.#running ??= this.#options.source.next();
    const step = await this.#orQuiet(this.#running).catch((error: unknown) => {
      this.#end();
      throw error;
    });
    if (step === QUIET) return { done: false, value: PING };
    this.#running = undefined;
    if (step.done !== true) return { done: false, value: step.value };
    this.#end();
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<readonly TurnEvent[], undefined>> {
    if (!this.#ended) {
      this.#options.abort();
      // A generator takes its end only once the step under way is over, which the abort brings about.
      await this.#running?.catch(() => {});
      await this.#options.source.return(undefined).catch(() => {});
      this.#end();
    }
    return { done: true, value: undefined };
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.onEnd();
  }

  async #orQuiet<T>(step: Promise<T>): Promise<T | typeof QUIET> {
    let timer: NodeJS.Timeout | undefined;
    const quiet = new Promise<typeof QUIET>((resolve) => {
      timer = setTimeout(resolve, this.#options.pingMs, QUIET).unref();
    });
    try {
      return await Promise.race([step, quiet]);
    } finally {
      clearTimeout(timer);
    }
  }
}
