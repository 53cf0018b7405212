/**
 * The calls of one session that run. A connection that breaks is no wish to stop: its calls go on
 * for a while, and a client that comes back gets their answers. After that their results are dropped.
 */
import { linkSignals } from '../../core/stopping.js';
import type { RequestId } from './sdk.js';

interface Running {
  controller: AbortController;
  done: Promise<void>;
}

export class RunningToolCalls {
  readonly #running = new Map<RequestId, Running>();
  readonly #reconnectMs: number;
  readonly #onCancelled: (id: RequestId) => void;
  /** Calls whose connection is gone. */
  readonly #orphans = new Set<RequestId>();
  #timer: NodeJS.Timeout | undefined;

  /** `onCancelled`: the client cancelled the call, and it has ended. */
  constructor(reconnectMs: number, onCancelled: (id: RequestId) => void = () => {}) {
    this.#reconnectMs = reconnectMs;
    this.#onCancelled = onCancelled;
  }

  has(id: RequestId): boolean {
    return this.#running.has(id);
  }

  ids(): readonly RequestId[] {
    return [...this.#running.keys()];
  }

  get size(): number {
    return this.#running.size;
  }

  /** `work` is aborted when the client cancels, when no client waits any more, or by `stop`. */
  async run<T>(id: RequestId, cancelled: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { controller, signal, release } = linkSignals(cancelled);
    const working = work(signal);
    const entry: Running = {
      controller,
      done: working.then(
        () => {},
        () => {},
      ),
    };
    this.#running.set(id, entry);
    try {
      return await working;
    } finally {
      release();
      if (this.#running.get(id) === entry) this.#running.delete(id);
      this.#orphans.delete(id);
      if (cancelled.aborted) this.#onCancelled(id);
    }
  }

  /** The connection that waits for these is gone. */
  orphan(ids: readonly RequestId[]): void {
    for (const id of ids) if (this.#running.has(id)) this.#orphans.add(id);
    if (this.#orphans.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), this.#reconnectMs);
  }

  /** The client is back: these are what it waits for. */
  adopt(): readonly RequestId[] {
    clearTimeout(this.#timer);
    const ids = [...this.#orphans];
    this.#orphans.clear();
    return ids;
  }

  /** Ends what runs, and waits for it. */
  async stop(reason: unknown): Promise<void> {
    clearTimeout(this.#timer);
    const running = [...this.#running.values()];
    for (const { controller } of running) controller.abort(reason);
    await Promise.all(running.map(({ done }) => done));
  }

  /** Those of one connection. */
  abort(ids: readonly RequestId[], reason: unknown): void {
    for (const id of ids) this.#running.get(id)?.controller.abort(reason);
  }

  #giveUp(): void {
    this.abort([...this.#orphans], new DOMException('The client is gone.', 'AbortError'));
    this.#orphans.clear();
  }
}
