/** What a route remembers of its turns, for wires whose clients do not send the whole history. */
import type { AssistantTurn, ConversationRequest, JsonObject } from '../core/conversation.js';
import type { StreamEvent } from '../core/events.js';
import { TurnCollector } from '../core/turn-collector.js';
import type { AnswerContext, Dialect, StreamEncoder } from '../dialects/dialect.js';
import type { ServerContext } from './context.js';

/** Whose turn it is, and the id that its answer will have. */
export interface TurnOwner {
  principal: string;
  id: string;
}

export interface TurnMemory {
  /**
   * The body with everything that was said before, where it names an answer of this principal that
   * is kept here; undefined for any other body.
   */
  recall(body: JsonObject, principal: string, context: ServerContext): Promise<JsonObject | undefined>;
  /** Undefined when the answer is not to be kept. `body` is read now and not held. */
  keep(owner: TurnOwner, body: JsonObject, context: ServerContext): TurnRecord | undefined;
}

/** One answer on its way into the memory. Exactly one of the two is called, and neither rejects. */
export interface TurnRecord {
  /** Resolves when it is written. */
  finish(answer: JsonObject): Promise<void>;
  /** There will be no answer. */
  drop(): void;
}

/** How an answer is written down: whole, and with everything that its client may not have asked for. */
export type Transcribe = (turn: AssistantTurn) => JsonObject;

export function transcriber(
  dialect: Dialect,
  request: ConversationRequest,
  answer: AnswerContext,
): Transcribe {
  const form = dialect.ingress.answerForm?.(request);
  return (turn) =>
    dialect.ingress.encodeResponse(turn, form === undefined ? answer : { ...answer, form }, NO_LOSSES);
}

/** Passes events on to the client and writes down what they add up to. */
export class RecordingEncoder implements StreamEncoder {
  readonly #encoder: StreamEncoder;
  readonly #record: TurnRecord;
  readonly #transcribe: Transcribe;
  #collector: TurnCollector | undefined = new TurnCollector();

  constructor(encoder: StreamEncoder, record: TurnRecord, transcribe: Transcribe) {
    this.#encoder = encoder;
    this.#record = record;
    this.#transcribe = transcribe;
  }

  encode(events: readonly StreamEvent[]): string {
    if (this.#collector !== undefined) this.#collect(this.#collector, events);
    return this.#encoder.encode(events);
  }

  /** The stream is over, whichever way. */
  close(): void {
    if (this.#collector === undefined) return;
    this.#collector = undefined;
    this.#record.drop();
  }

  #collect(collector: TurnCollector, events: readonly StreamEvent[]): void {
    const last = events.at(-1)?.type;
    if (last === 'error') {
      this.close();
      return;
    }
    collector.push(events);
    if (last !== 'message-stop') return;
    this.#collector = undefined;
    // Begun before the client hears of the end, so that its next request finds it.
    void this.#record.finish(this.#transcribe(collector.finish()));
  }
}
