/**
 * Answers whose client may not have heard their end: the process may die, or the connection break,
 * when the answer is written and not yet sent. Until it is known that the client has it, the same
 * request is given it again, so that nothing runs twice.
 *
 * The answer's row says that it is so; what a session's record has about it only tells where to
 * look. So a delivery is noted without the session's lease, which another process may want just then.
 */

import {
  type FingerprintedRequest,
  HistoryFingerprint,
  requestKey,
} from '../matching/history-fingerprint.js';
import type { SessionReader } from '../persistence/session-reader.js';
import type { SessionRow, Undelivered } from '../persistence/session-row.js';
import type { SessionParts } from '../session-parts.js';
import { type KeptAnswer, readAnswer, undeliveredKey } from './kept-answers.js';

interface Owner {
  id: string;
  principal: string;
}

export class Deliveries {
  readonly #parts: Pick<SessionParts, 'store' | 'log'>;
  readonly #reader: SessionReader;
  /** Turns by session that are delivered, until that is written. */
  readonly #noted = new Map<string, string>();
  readonly #writes = new Set<Promise<void>>();

  constructor(parts: Pick<SessionParts, 'store' | 'log'>, reader: SessionReader) {
    this.#parts = parts;
    this.#reader = reader;
  }

  /** The last answer is that of the turn, and its client may not have heard the end of it. */
  async isOpen(session: Owner, record: SessionRow, key: string): Promise<boolean> {
    return record.undelivered?.turn.key === key && (await this.#answer(session, record)) !== undefined;
  }

  /** The answer that the request had before, where nobody is known to have heard it. */
  async answerTo(
    session: Owner,
    record: SessionRow,
    request: FingerprintedRequest,
    tails: readonly string[],
  ): Promise<KeptAnswer | undefined> {
    if (record.undelivered === undefined) return undefined;
    const { turn, head } = record.undelivered;
    // New messages alone were told behind what was the last answer then.
    const own = request.hasHistory ? [] : [HistoryFingerprint.from(head, request.messages).end.hash];
    const isSame = [...tails, ...own].some((tail) => requestKey(tail, request.asks) === turn.key);
    return isSame ? this.#answer(session, record) : undefined;
  }

  /** Never throws. Known at once in this process. */
  delivered(session: string, key: string): void {
    this.#noted.set(session, key);
    const writing = this.#write(session, key);
    this.#writes.add(writing);
    void writing.then(() => this.#writes.delete(writing));
  }

  /** The session is gone on with: who does that has heard its last answer. */
  async drop({ id, principal }: Owner, { mark }: Undelivered): Promise<void> {
    const { store, log } = this.#parts;
    try {
      await store.answers.delete(principal, undeliveredKey(id, mark));
    } catch (error) {
      // Nobody finds it any more, and it goes with its time.
      log.warn({ err: error, session: id }, 'an answer that was delivered could not be deleted');
    }
  }

  /** Until all that was told is written. */
  async close(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #answer({ id, principal }: Owner, { undelivered }: SessionRow): Promise<KeptAnswer | undefined> {
    if (undelivered === undefined || undelivered.turn.key === this.#noted.get(id)) return undefined;
    const kept = await this.#parts.store.answers.get(principal, undeliveredKey(id, undelivered.mark));
    return kept === undefined ? undefined : readAnswer(kept.body);
  }

  async #write(id: string, key: string): Promise<void> {
    try {
      const head = await this.#reader.head(id);
      const undelivered = head?.record.undelivered;
      if (head !== undefined && undelivered?.turn.key === key) await this.drop(head.session, undelivered);
    } catch (error) {
      this.#parts.log.warn({ err: error, session: id }, 'a delivery could not be noted');
    } finally {
      if (this.#noted.get(id) === key) this.#noted.delete(id);
    }
  }
}
