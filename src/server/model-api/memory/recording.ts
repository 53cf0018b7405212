/** One answer on its way into what a route remembers. */
import type { AnswerMemory } from '../../../answers/answer-memory.js';
import type { AssistantMessage, ConversationRequest } from '../../../core/conversation.js';
import type { AnswerContext } from '../../../dialects/shared/dialect.js';
import type { Log } from '../../../observability/log.js';

export interface MemoryContext {
  answers: AnswerMemory;
  log: Log;
}

export interface AskedOf {
  principal: string;
  /** The answer's. */
  id: string;
  /** Of the request, as it came. */
  body: unknown;
}

export interface KeptAnswer extends AskedOf {
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
