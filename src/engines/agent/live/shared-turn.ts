/**
 * A running turn and everyone who waits for it. Its events are pulled by whoever is furthest and
 * kept, so that one who joins later hears them from the beginning. The turn is everybody's: it is
 * stopped when the last of them has left, also in the middle of a tool.
 */
import type { AgentObserver } from '../../../activity/activity.js';
import type { ModelEvent } from '../../../core/events.js';

type Batch = readonly ModelEvent[];

export interface Participant {
  /** Fires when the participant is gone. */
  signal: AbortSignal;
  /** Told of what happens from now on. */
  observe?: AgentObserver | undefined;
}

export interface SharedTurnOptions {
  /** The longest silence of a reader. */
  pingMs: number;
  /** Once, when the turn is over, however it ended; nobody hears the end before it has resolved. */
  onEnd(): Promise<void>;
}

export class SharedTurn {
  readonly #options: SharedTurnOptions;
  readonly #stop = new AbortController();
  readonly #readers = new Map<TurnReader, AgentObserver | undefined>();
  readonly #batches: Batch[] = [];
  #source: AsyncGenerator<Batch, void, void> | undefined;
  #step: Promise<void> | undefined;
  #over = false;
  #failure: { thrown: unknown } | undefined;
  #begin: () => void = () => {};
  readonly #begun = new Promise<void>((resolve) => {
    this.#begin = resolve;
  });
  #end: () => void = () => {};
  /** Resolves when nothing of the turn runs any more. */
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(options: SharedTurnOptions) {
    this.#options = options;
  }

  /** Fires when nobody waits for the turn any more: whatever it does must end. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get closing(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Undefined where the turn is ending: there is nothing left to join. */
  join({ signal, observe }: Participant): TurnReader | undefined {
    if (this.#over || this.closing || (signal.aborted && this.#readers.size > 0)) return undefined;
    const reader = new TurnReader(this, this.#options.pingMs, signal);
    this.#readers.set(reader, observe);
    reader.watch();
    return reader;
  }

  /** Tells everyone who waits. What one of them throws is thrown when all have been told. */
  readonly observe: AgentObserver = (activity) => {
    const failures: unknown[] = [];
    for (const observe of this.#readers.values()) {
      try {
        observe?.(activity);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };

  /** Nothing is pulled of the source before somebody reads. */
  start(source: AsyncGenerator<Batch, void, void>): void {
    this.#source = source;
    this.#begin();
    if (this.closing) void this.#close();
  }

  /** It never came to a source. */
  async fail(): Promise<void> {
    this.#stop.abort();
    this.#begin();
    await this.#finish();
  }

  /** Stops it for everyone; resolves when it is over. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const reader of [...this.#readers.keys()]) void reader.return();
    if (this.#source !== undefined) await this.#close();
    await this.ended;
  }

  /** The batch at `index`, once it is there; undefined behind the last one. For readers. */
  async at(index: number): Promise<Batch | undefined> {
    await this.#begun;
    while (index >= this.#batches.length && !this.#over) {
      this.#step ??= this.#pull().finally(() => {
        this.#step = undefined;
      });
      await this.#step;
    }
    const batch = this.#batches[index];
    if (batch === undefined && this.#failure !== undefined) throw this.#failure.thrown;
    return batch;
  }

  /** For readers. The last one to leave waits until the turn is over; `why` is what the turn ends of. */
  async leave(reader: TurnReader, why?: unknown): Promise<void> {
    if (!this.#readers.delete(reader) || this.#readers.size > 0 || this.#over) return;
    this.#stop.abort(why);
    if (this.#source === undefined) return;
    await this.#close();
  }

  async #pull(): Promise<void> {
    try {
      const step = await this.#source?.next();
      if (step === undefined || step.done === true) await this.#finish();
      else this.#batches.push(step.value);
    } catch (thrown) {
      this.#failure = { thrown };
      await this.#finish();
    }
  }

  async #close(): Promise<void> {
    // A generator takes its end only once the step under way is over, which the signal brings about.
    await this.#step;
    await this.#source?.return(undefined).catch(() => {});
    await this.#finish();
  }

  async #finish(): Promise<void> {
    if (this.#over) return this.ended;
    this.#over = true;
    try {
      await this.#options.onEnd();
    } finally {
      this.#end();
    }
  }
}

const PING: Batch = [{ type: 'ping' }];
const QUIET = Symbol('quiet');
const LEFT = Symbol('left');
const DONE = { done: true, value: undefined } as const;

/** One who hears the turn from its beginning, with pings while nothing else is to be said. */
export class TurnReader implements AsyncIterable<Batch>, AsyncIterator<Batch> {
  readonly #turn: SharedTurn;
  readonly #pingMs: number;
  readonly #signal: AbortSignal;
  readonly #onGone = () => void this.return();
  #index = 0;
  #left: Promise<void> | undefined;
  #leave: (left: typeof LEFT) => void = () => {};
  readonly #leaving = new Promise<typeof LEFT>((resolve) => {
    this.#leave = resolve;
  });

  constructor(turn: SharedTurn, pingMs: number, signal: AbortSignal) {
    this.#turn = turn;
    this.#pingMs = pingMs;
    this.#signal = signal;
  }

  /** Leaves when its participant is gone. */
  watch(): void {
    if (this.#signal.aborted) this.#onGone();
    else this.#signal.addEventListener('abort', this.#onGone, { once: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<Batch> {
    return this;
  }

  async next(): Promise<IteratorResult<Batch, undefined>> {
    if (this.#left !== undefined) return this.return();
    const step = await this.#orQuiet(this.#turn.at(this.#index));
    if (step === QUIET) return { done: false, value: PING };
    if (step === LEFT || step === undefined) return this.return();
    this.#index += 1;
    return { done: false, value: step };
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    this.#signal.removeEventListener('abort', this.#onGone);
    this.#leave(LEFT);
    // A question that waits is withdrawn, unless it is the gateway that goes.
    this.#left ??= this.#turn.leave(this, this.#signal.reason);
    await this.#left;
    return DONE;
  }

  async #orQuiet(step: Promise<Batch | undefined>): Promise<Batch | undefined | typeof QUIET | typeof LEFT> {
    let timer: NodeJS.Timeout | undefined;
    const quiet = new Promise<typeof QUIET>((resolve) => {
      timer = setTimeout(resolve, this.#pingMs, QUIET).unref();
    });
    // Nobody may be there to hear of a failure any more.
    step.catch(() => {});
    try {
      return await Promise.race([step, quiet, this.#leaving]);
    } finally {
      clearTimeout(timer);
    }
  }
}
