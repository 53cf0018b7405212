/**
 * One source with several readers, each from its first piece. The reader that is furthest ahead
 * pulls the source, so that it never runs faster than its fastest reader. The stream belongs to all
 * of them: it stops when the last one leaves, also in the middle of a read.
 */
import { deferred } from '../core/deferred.js';
import { onAbort } from '../core/stopping.js';

interface Participant {
  /** Fires when the participant is gone. */
  signal: AbortSignal;
}

export interface SharedStreamOptions<T> {
  /**
   * Called once, however the stream ends; no reader gets the end before it has resolved. `whole`:
   * the source came to its end by itself and did not throw.
   */
  onEnd(whole: boolean): Promise<void>;
  /** A reader that has waited for `afterMs` is given `piece`. */
  ping?: { afterMs: number; piece: T };
  /** Beyond `limit`, the pieces that every reader has taken are released, and no reader can join any more. */
  bound?: { limit: number; sizeOf(piece: T): number };
}

export class SharedStream<T extends object, P extends Participant = Participant> {
  readonly #options: SharedStreamOptions<T>;
  readonly #stop = new AbortController();
  readonly #readers = new Map<StreamReader<T>, P>();
  #pieces: T[] = [];
  /** How many pieces were released. */
  #released = 0;
  #size = 0;
  #source: AsyncIterator<T, unknown, undefined> | undefined;
  #pulling: Promise<void> | undefined;
  #over = false;
  #failure: { thrown: unknown } | undefined;
  readonly #begun = deferred();
  readonly #ended = deferred();

  constructor(options: SharedStreamOptions<T>) {
    this.#options = options;
  }

  /** Fires when the last reader has left: the source must end. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get closing(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Resolves when nothing of the stream runs any more. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Everyone who has joined and not left. */
  get participants(): readonly P[] {
    return [...this.#readers.values()];
  }

  /** Undefined where the stream is ending, or its first pieces were released. */
  join(participant: P): StreamReader<T> | undefined {
    const { signal } = participant;
    if (this.#over || this.closing || this.#isFull || (signal.aborted && this.#readers.size > 0)) {
      return undefined;
    }
    const reader = new StreamReader(this, signal, this.#options.ping);
    this.#readers.set(reader, participant);
    reader.watch();
    return reader;
  }

  /** The source is not pulled before the first read. */
  start(source: AsyncIterator<T, unknown, undefined>): void {
    this.#source = source;
    this.#begun.resolve();
    if (this.closing) void this.#close();
  }

  /** There will be no source. */
  async fail(): Promise<void> {
    this.#stop.abort();
    this.#begun.resolve();
    await this.#finish(false);
  }

  /** Stops it for everyone; resolves when it is over. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const reader of [...this.#readers.keys()]) void reader.return();
    if (this.#source !== undefined) await this.#close();
    await this.ended;
  }

  /** For readers: the piece at `index`, once it is there; undefined at the end. Rejects as the source did. */
  async at(index: number): Promise<T | undefined> {
    await this.#begun.promise;
    for (;;) {
      const piece = this.#pieces[index - this.#released];
      if (piece !== undefined) return piece;
      if (this.#over) break;
      this.#pulling ??= this.#pull().finally(() => {
        this.#pulling = undefined;
      });
      await this.#pulling;
    }
    await this.ended;
    if (this.#failure !== undefined) throw this.#failure.thrown;
    return undefined;
  }

  /** For readers: one of them has taken its next piece. */
  taken(): void {
    if (!this.#isFull) return;
    const taken = Math.min(...[...this.#readers.keys()].map(({ index }) => index));
    if (taken === this.#released) return;
    this.#pieces = this.#pieces.slice(taken - this.#released);
    this.#released = taken;
  }

  /** For readers. The last one to leave waits until the stream is over; `why` is what it ends of. */
  async leave(reader: StreamReader<T>, why: unknown): Promise<void> {
    if (!this.#readers.delete(reader) || this.#readers.size > 0 || this.#over) return;
    this.#stop.abort(why);
    if (this.#source !== undefined) await this.#close();
  }

  get #isFull(): boolean {
    return this.#size > (this.#options.bound?.limit ?? Number.POSITIVE_INFINITY);
  }

  async #pull(): Promise<void> {
    try {
      const step = await this.#source?.next();
      // An aborted source may end as if it were whole.
      if (step === undefined || step.done === true) return await this.#finish(!this.closing);
      this.#pieces.push(step.value);
      this.#size += this.#options.bound?.sizeOf(step.value) ?? 0;
    } catch (thrown) {
      this.#failure ??= { thrown };
      await this.#finish(false);
    }
  }

  /** A generator takes its end only once the step under way is over, which the signal brings about. */
  async #close(): Promise<void> {
    await this.#source?.return?.()?.catch(() => {});
    await this.#finish(false);
  }

  async #finish(whole: boolean): Promise<void> {
    if (this.#over) return this.ended;
    this.#over = true;
    try {
      await this.#options.onEnd(whole);
    } finally {
      this.#ended.resolve();
    }
  }
}

const SILENCE = Symbol('silence');
const LEFT = Symbol('left');
const DONE = { done: true, value: undefined } as const;

export class StreamReader<T extends object> implements AsyncIterable<T>, AsyncIterator<T, undefined> {
  readonly #stream: SharedStream<T>;
  readonly #signal: AbortSignal;
  readonly #ping: SharedStreamOptions<T>['ping'];
  #unwatch: () => void = () => {};
  /** Of the piece that comes next. */
  index = 0;
  #left: Promise<void> | undefined;
  #interrupt: () => void = () => {};

  constructor(stream: SharedStream<T>, signal: AbortSignal, ping: SharedStreamOptions<T>['ping']) {
    this.#stream = stream;
    this.#signal = signal;
    this.#ping = ping;
  }

  /** Leaves when its participant is gone. */
  watch(): void {
    this.#unwatch = onAbort(this.#signal, () => void this.return());
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    if (this.#left !== undefined) return this.return();
    try {
      const step = await this.#waitFor(this.#stream.at(this.index));
      if (step === SILENCE && this.#ping !== undefined) return { done: false, value: this.#ping.piece };
      if (typeof step !== 'object') return await this.return();
      this.index += 1;
      this.#stream.taken();
      return { done: false, value: step };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#unwatch();
    this.#interrupt();
    // A question that waits is withdrawn, unless it is the gateway that goes.
    this.#left ??= this.#stream.leave(this, this.#signal.reason);
    await this.#left;
    return DONE;
  }

  /** Races nothing that outlives the step: that would keep every piece until the reader leaves. */
  #waitFor(step: Promise<T | undefined>): Promise<T | undefined | typeof SILENCE | typeof LEFT> {
    let timer: NodeJS.Timeout | undefined;
    return new Promise<T | undefined | typeof SILENCE | typeof LEFT>((resolve, reject) => {
      if (this.#ping !== undefined) timer = setTimeout(resolve, this.#ping.afterMs, SILENCE).unref();
      this.#interrupt = () => resolve(LEFT);
      step.then(resolve, reject);
    }).finally(() => clearTimeout(timer));
  }
}
