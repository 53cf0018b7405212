/**
 * Rows that are written together, later: one transaction for many requests, and none of them waits.
 * Batches are written one after the other, so rows keep their order.
 */
import { type Deferred, deferred } from '../core/deferred.js';
import { GatewayError } from '../core/errors.js';

export interface WriteBufferOptions<Row> {
  /** Writes a batch, whole or not at all. */
  write: (rows: Row[]) => Promise<void>;
  /** 0: at the end of this turn of the event loop. */
  delayMs: number;
  /** A batch of this size does not wait for the clock. */
  flushRows: number;
  /** With more than this unwritten, new rows push out the oldest. */
  maxRows: number;
  /** Whether a batch that failed so is not written for certain, and comes first in the next; without it none does. */
  keeps?: (error: unknown) => boolean;
  /** Whether a batch that failed so is not written for certain and one of its rows may be why: each is written alone. */
  splits?: (error: unknown) => boolean;
  /** Called once for each batch that could not be written, and for rows that were pushed out. */
  onError: (error: unknown) => void;
}

interface Batch<Row> {
  rows: Row[];
  written: Deferred<void>;
}

export class WriteBuffer<Row> {
  readonly #options: WriteBufferOptions<Row>;
  #batch: Batch<Row> | undefined;
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #lost = 0;

  constructor(options: WriteBufferOptions<Row>) {
    this.#options = options;
  }

  /** Resolves when the row is written, rejects when that failed, also where the row is kept; may be ignored. */
  add(row: Row): Promise<void> {
    this.#batch ??= this.#open();
    const { rows, written } = this.#batch;
    rows.push(row);
    this.#pushOut(rows);
    if (this.#cancelTimer === undefined) this.#schedule(this.#options.delayMs);
    else if (rows.length === this.#options.flushRows && this.#options.delayMs > 0) this.#schedule(0);
    return written.promise;
  }

  /** Resolves when everything added so far is written, kept for the next batch or given up. Never rejects. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#writing = this.#writing.then(() => this.#writeBatch());
    return this.#writing;
  }

  #open(): Batch<Row> {
    const written = deferred();
    written.promise.catch(this.#options.onError);
    return { rows: [], written };
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    if (this.#lost > 0) {
      this.#options.onError(new Error(`${this.#lost} rows were dropped: the store cannot keep up.`));
      this.#lost = 0;
    }
    try {
      await this.#options.write(batch.rows);
      batch.written.resolve();
    } catch (error) {
      const { keeps, splits } = this.#options;
      if (!keeps?.(error) && splits?.(error) && batch.rows.length > 1) return this.#writeEach(batch);
      batch.written.reject(error);
      if (keeps?.(error)) this.#putBack(batch.rows);
    }
  }

  async #writeEach({ rows, written }: Batch<Row>): Promise<void> {
    const { write, keeps } = this.#options;
    const errors: unknown[] = [];
    for (const [index, row] of rows.entries()) {
      try {
        await write([row]);
      } catch (error) {
        errors.push(error);
        if (!keeps?.(error)) continue;
        this.#putBack(rows.slice(index));
        break;
      }
    }
    if (errors.length === 0) written.resolve();
    else written.reject(errors[0]);
  }

  #putBack(rows: Row[]): void {
    this.#batch ??= this.#open();
    this.#batch.rows.unshift(...rows);
    this.#pushOut(this.#batch.rows);
    // Without a delay it would try without a pause: the next row or flush does.
    const { delayMs } = this.#options;
    if (this.#cancelTimer === undefined && delayMs > 0) this.#schedule(delayMs);
  }

  #pushOut(rows: Row[]): void {
    const beyond = rows.length - this.#options.maxRows;
    if (beyond <= 0) return;
    rows.splice(0, beyond);
    this.#lost += beyond;
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer?.();
    const run = () => void this.flush();
    if (delayMs === 0) {
      const immediate = setImmediate(run);
      this.#cancelTimer = () => clearImmediate(immediate);
    } else {
      // Nobody waits for these rows, so they must not keep the process alive: close() flushes.
      const timer = setTimeout(run, delayMs).unref();
      this.#cancelTimer = () => clearTimeout(timer);
    }
  }
}

/** The store cannot be used just now, whatever is written; not so one that is closed. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof GatewayError && error.detail === 'store_unavailable' && error.cause !== undefined;
}

/** The store is there, and does not take what was written. */
export function isRefused(error: unknown): boolean {
  return !(error instanceof GatewayError);
}
