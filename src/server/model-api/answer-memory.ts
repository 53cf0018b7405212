/** What a route remembers of its turns, for wires whose clients need not send the whole history. */

import { AnswerCollector } from '../../core/answer-collector.js';
import type { AssistantMessage, ConversationRequest, JsonObject } from '../../core/conversation.js';
import type { AnswerEvent } from '../../core/events.js';
import type { AnswerContext, StreamEncoder } from '../../dialects/shared/dialect.js';
import type { ServerContext } from '../context.js';

export type MemoryContext = Pick<ServerContext, 'store' | 'log'>;

export interface AnswerMemory {
  /**
   * The body with everything that was said before, where it names an answer of this principal that
   * is kept here; undefined for any other body. Throws GatewayError where it names one that is known
   * to be another principal's or another end user's.
   */
  recall(body: unknown, principal: string, context: MemoryContext): Promise<JsonObject | undefined>;
  /** The upstream keeps the answer itself: whose it is has to be known when somebody asks for it. */
  keepForwarded?(answer: ForwardedAnswerId, context: MemoryContext): Promise<void>;
  /** Undefined when the answer is not to be kept. What it needs of the request is written, not held. */
  keep(turn: KeptAnswer, context: MemoryContext): AnswerRecording | undefined;
}

export interface ForwardedAnswerId {
  principal: string;
  /** The upstream's own. */
  id: string;
  upstream: string;
  /** As it came. */
  body: unknown;
}

export interface KeptAnswer {
  principal: string;
  /** The answer's. */
  id: string;
  /** As it came. */
  body: unknown;
  request: ConversationRequest;
  answer: AnswerContext;
}

/** One answer on its way into the memory. Exactly one of the two is called; neither rejects. */
export interface AnswerRecording {
  /** Resolves when it is written, or when that has failed. */
  finish(turn: AssistantMessage): Promise<void>;
  /** There will be no answer. Resolves when nothing is left of it. */
  drop(): Promise<void>;
}

/** Passes events on to the client's encoder and records what they add up to. */
export class RecordingEncoder implements StreamEncoder {
  readonly #encoder: StreamEncoder;
  readonly #record: AnswerRecording;
  #collector: AnswerCollector | undefined = new AnswerCollector();

  constructor(encoder: StreamEncoder, record: AnswerRecording) {
    this.#encoder = encoder;
    this.#record = record;
  }

  encode(events: readonly AnswerEvent[]): string {
    if (this.#collector !== undefined) this.#collect(this.#collector, events);
    return this.#encoder.encode(events);
  }

  /** The stream is over, whichever way. */
  close(): void {
    if (this.#collector === undefined) return;
    this.#collector = undefined;
    void this.#record.drop();
  }

  #collect(collector: AnswerCollector, events: readonly AnswerEvent[]): void {
    const last = events.at(-1)?.type;
    if (last === 'error') {
      this.close();
      return;
    }
    collector.push(events);
    if (last !== 'message-stop') return;
    this.#collector = undefined;
    // Begun before the client hears of the end, so that its next request finds it.
    void this.#record.finish(collector.finish());
  }
}
