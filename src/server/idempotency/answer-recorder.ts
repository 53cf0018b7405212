/** Listens to an answer on its way out and says in the end what is to be kept of it. */

import { AnswerCollector } from '../../core/answer-collector.js';
import type { AssistantMessage } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { type LifecycleOptions, StreamLifecycle } from '../../core/lifecycle.js';
import type { Dialect } from '../../dialects/shared/dialect.js';
import { type AnswerFacts, isWholeAnswer, keepBytes, type Recorded } from './recorded-answer.js';

/** Characters or bytes of one answer. */
export const KEPT_LIMIT = 16 * 1024 * 1024;

export interface AnswerRecorder<T> {
  /** Never throws. */
  take(piece: T): void;
  /** The source is over. Undefined when the answer failed: a repeat is to be answered anew. */
  finish(): { recorded: Recorded; turn?: AssistantMessage } | undefined;
}

export class TurnRecorder implements AnswerRecorder<readonly ModelEvent[]> {
  readonly #lifecycle: StreamLifecycle;
  readonly #facts: AnswerFacts;
  #collector: AnswerCollector | undefined = new AnswerCollector();
  #size = 0;
  #failed = false;

  constructor(options: LifecycleOptions, facts: AnswerFacts) {
    this.#lifecycle = new StreamLifecycle(options);
    this.#facts = facts;
  }

  take(batch: readonly ModelEvent[]): void {
    this.#size += sizeOfBatch(batch);
    this.#collect(this.#lifecycle.push(batch));
  }

  finish(): { recorded: Recorded; turn?: AssistantMessage } | undefined {
    this.#collect(this.#lifecycle.end());
    if (this.#failed) return undefined;
    if (this.#collector === undefined) return { recorded: { kind: 'not-kept' } };
    const turn = this.#collector.finish();
    const losses = [...this.#facts.losses, ...this.#lifecycle.losses.list()];
    const recorded: Recorded = { kind: 'turn', ...this.#facts, losses, turn };
    return { recorded: this.#size > KEPT_LIMIT ? { kind: 'not-kept' } : recorded, turn };
  }

  #collect(events: ReturnType<StreamLifecycle['push']>): void {
    try {
      this.#collector?.push(events);
    } catch {
      this.#collector = undefined;
    }
    if (events.at(-1)?.type === 'error') this.#failed = true;
  }
}

export class BytesRecorder implements AnswerRecorder<Uint8Array> {
  readonly #facts: AnswerFacts & { id: string; status: number; contentType: string };
  readonly #dialect: Dialect;
  #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(facts: AnswerFacts & { id: string; status: number; contentType: string }, dialect: Dialect) {
    this.#facts = facts;
    this.#dialect = dialect;
  }

  take(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#size > KEPT_LIMIT) this.#chunks = [];
    else this.#chunks.push(chunk);
  }

  finish(): { recorded: Recorded } | undefined {
    if (this.#size > KEPT_LIMIT) return { recorded: { kind: 'not-kept' } };
    const bytes = Buffer.concat(this.#chunks);
    if (!isWholeAnswer(bytes, this.#facts.contentType, this.#dialect)) return undefined;
    return { recorded: keepBytes(bytes, this.#facts) };
  }
}

export function sizeOfBatch(batch: readonly ModelEvent[]): number {
  let size = 0;
  for (const event of batch) {
    if ('text' in event) size += event.text.length;
    else if ('json' in event) size += event.json.length;
    else if (event.type === 'block') size += JSON.stringify(event.block).length;
  }
  return size;
}
