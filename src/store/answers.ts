/**
 * Answers that may be asked for again: a repeated request, an `Idempotency-Key`, a stored response.
 * `src/answers/answer-memory.ts` has the kinds of keys.
 *
 * Rows of the gateway itself say whose something is that an upstream keeps. They are small, and without one
 * nobody is refused: they go when they expire, and no number of other rows pushes them out.
 */

export interface NewAnswer {
  /** Empty where the row is the gateway's own: no key has that name. */
  principal: string;
  key: string;
  /** Of the request: the same key with another digest is another request, which is an error of the client. */
  digest: string;
  session?: string;
  /** JSON, kept exactly. */
  body: unknown;
  expiresAt: number;
}

export interface RecordedAnswer extends NewAnswer {
  createdAt: number;
}

export interface AnswerStore {
  get(principal: string, key: string): Promise<RecordedAnswer | undefined>;
  /** The first one stands; `existing` is it. */
  put(answer: NewAnswer): Promise<{ recorded: true } | { recorded: false; existing: RecordedAnswer }>;
  /** Kept until then, whatever was said before. False where there is none. */
  extend(principal: string, key: string, expiresAt: number): Promise<boolean>;
  /** `DELETE /v1/responses/:id`. `relaxed`: a power cut may undo it, the death of the process does not. */
  delete(principal: string, key: string, durability?: 'durable' | 'relaxed'): Promise<boolean>;
}
