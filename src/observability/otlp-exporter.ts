/**
 * Sends spans to a collector, one batch at a time, from a queue with an end. Nobody waits for it: what
 * the collector does not take is tried again for a while, and what does not fit is dropped and counted.
 */
import { atMost } from '../core/deferred.js';
import type { EndedSpan } from './otlp-json.js';

export interface ExportAnswer {
  status: number;
  /** Seconds. */
  retryAfter?: number;
  /** Of what was sent. */
  rejected?: number;
}

interface SpanExporterOptions {
  /** Rejects where the collector cannot be reached. */
  send(spans: readonly EndedSpan[]): Promise<ExportAnswer>;
  onDropped(count: number): void;
  onProblem(problem: unknown): void;
  queueSpans: number;
  batchSpans: number;
  everyMs: number;
  /** The first pause after a failure; doubled with each further one. */
  backOffMs?: number;
  tries?: number;
}

const BACK_OFF_MS = 1000;
const BACK_OFF_MAX_MS = 60_000;
const TRIES = 6;
/** Of all that waits, by its texts: content may be in it. */
const QUEUE_CHARS = 16 * 1024 * 1024;
const BATCH_CHARS = 2 * 1024 * 1024;
const TRY_AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #queue: { span: EndedSpan; chars: number }[] = [];
  #chars = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #failures = 0;
  #closing = false;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  add(span: EndedSpan): void {
    const chars = charsOf(span);
    const { queueSpans, batchSpans, everyMs, onDropped } = this.#options;
    if (this.#closing || this.#queue.length >= queueSpans || this.#chars + chars > QUEUE_CHARS) {
      onDropped(1);
      return;
    }
    this.#queue.push({ span, chars });
    this.#chars += chars;
    if (this.#sending !== undefined || this.#failures > 0) return;
    if (this.#queue.length >= batchSpans) this.#start();
    else this.#arm(everyMs);
  }

  /** Sends what there is, once; what is not taken within `graceMs` is dropped. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    const over = Date.now() + graceMs;
    await atMost(graceMs, this.#sending ?? Promise.resolve());
    while (this.#queue.length > 0 && Date.now() < over) {
      const before = this.#queue.length;
      await atMost(over - Date.now(), this.#sendBatch());
      // It was not taken: the rest would not be either.
      if (this.#queue.length >= before) break;
    }
    clearTimeout(this.#timer);
    if (this.#queue.length > 0) this.#options.onDropped(this.#queue.length);
    this.#take(this.#queue.length);
  }

  #arm(ms: number): void {
    if (this.#timer !== undefined || this.#closing) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#start();
    }, ms);
    this.#timer.unref();
  }

  #start(): void {
    if (this.#sending !== undefined || this.#closing) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    // What comes meanwhile waits for the next time, unless it fills a batch.
    let rest = this.#queue.length;
    while (rest > 0 && !this.#closing) {
      const before = this.#queue.length;
      const waitMs = await this.#sendBatch();
      if (waitMs !== undefined) {
        this.#arm(waitMs);
        return;
      }
      rest -= Math.max(1, before - this.#queue.length);
    }
    if (this.#queue.length > 0) this.#arm(this.#options.everyMs);
  }

  /** How long to wait before it is tried again; undefined where the batch is done with. */
  async #sendBatch(): Promise<number | undefined> {
    const batch = this.#batch();
    const { send, onDropped, onProblem, tries = TRIES } = this.#options;
    let answer: ExportAnswer | undefined;
    try {
      answer = await send(batch);
    } catch (error) {
      if (this.#failures === 0) onProblem(error);
    }
    if (answer !== undefined && answer.status >= 200 && answer.status < 300) {
      this.#failures = 0;
      this.#take(batch.length);
      if (answer.rejected !== undefined && answer.rejected > 0) onDropped(answer.rejected);
      return undefined;
    }
    if (answer !== undefined && this.#failures === 0) {
      onProblem(new Error(`The collector answered ${answer.status}.`));
    }
    this.#failures += 1;
    const isFinal = answer !== undefined && !TRY_AGAIN.has(answer.status);
    if (!isFinal && this.#failures < tries) return this.#pause(answer?.retryAfter);
    this.#take(batch.length);
    onDropped(batch.length);
    // The next batch is tried after a pause of its own: an outage is not asked for every batch.
    const pause = this.#pause(answer?.retryAfter);
    this.#failures = isFinal ? 0 : tries - 1;
    return isFinal ? undefined : pause;
  }

  #pause(retryAfter: number | undefined): number {
    const { backOffMs = BACK_OFF_MS } = this.#options;
    const doubled = Math.min(BACK_OFF_MAX_MS, backOffMs * 2 ** (this.#failures - 1));
    return retryAfter === undefined
      ? doubled * (0.5 + Math.random() / 2)
      : Math.min(BACK_OFF_MAX_MS, retryAfter * 1000);
  }

  #batch(): EndedSpan[] {
    const spans: EndedSpan[] = [];
    let chars = 0;
    for (const each of this.#queue) {
      if (spans.length >= this.#options.batchSpans) break;
      if (spans.length > 0 && chars + each.chars > BATCH_CHARS) break;
      spans.push(each.span);
      chars += each.chars;
    }
    return spans;
  }

  #take(count: number): void {
    for (const { chars } of this.#queue.splice(0, count)) this.#chars -= chars;
  }
}

function charsOf({ name, attributes, events }: EndedSpan): number {
  let chars = name.length;
  for (const map of [attributes, ...events.map((event) => event.attributes)]) {
    for (const value of map.values()) {
      if (typeof value === 'string') chars += value.length;
      else if (typeof value === 'object') for (const each of value) chars += each.length;
    }
  }
  return chars;
}
