/** What a request was answered with, for who sends it again under the same `client_id`. */
import type { AnswerStore } from '../../../store/answers.js';
import type { ChatStarted } from '../wire/sessions.js';
import { CHAT_LIMITS } from './limits.js';

export interface StartedAnswer {
  /** Of the request. */
  digest: string;
  started: ChatStarted;
}

const keyOf = (run: string): string => `chat:${run}`;

export class StartedAnswers {
  readonly #answers: AnswerStore;

  constructor(answers: AnswerStore) {
    this.#answers = answers;
  }

  async find(principal: string, run: string): Promise<StartedAnswer | undefined> {
    const kept = await this.#answers.get(principal, keyOf(run));
    return kept !== undefined && isStarted(kept.body)
      ? { digest: kept.digest, started: kept.body }
      : undefined;
  }

  async keep(principal: string, run: string, { digest, started }: StartedAnswer): Promise<void> {
    const expiresAt = Date.now() + CHAT_LIMITS.clientIdMs;
    const { session } = started;
    await this.#answers.put({ principal, key: keyOf(run), digest, session, body: started, expiresAt });
  }
}

// It was written by this program and is read by it alone.
const isStarted = (value: unknown): value is ChatStarted =>
  typeof value === 'object' && value !== null && 'session' in value && 'turn' in value;
