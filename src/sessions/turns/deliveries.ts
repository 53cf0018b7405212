/**
 * Undelivered answers. The process may die or the connection break after an answer is written and
 * before it is sent. Until the delivery is confirmed, the same request gets the stored answer, so
 * that nothing runs twice.
 *
 * The answer's row is the truth; the session's record only says where to look. So a delivery is
 * written without the session's lease, which another process may want at that moment.
 */

import { type FingerprintedRequest, HistoryFingerprint, requestKey } from '../history/history-fingerprint.js';
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
  /** Delivered turns by session, until the delivery is written. */
  readonly #noted = new Map<string, string>();
  readonly #writes = new Set<Promise<void>>();

  constructor(parts: Pick<SessionParts, 'store' | 'log'>, reader: SessionReader) {
    this.#parts = parts;
    this.#reader = reader;
  }

  /** The session's last answer is that of the turn, and is undelivered. */
  async isOpen(session: Owner, record: SessionRow, key: string): Promise<boolean> {
    return record.undelivered?.turn.key === key && (await this.#answer(session, record)) !== undefined;
  }

  /** The undelivered answer to this request. */
  async answerTo(
    session: Owner,
    record: SessionRow,
    request: FingerprintedRequest,
    requestFingerprints: readonly string[],
  ): Promise<KeptAnswer | undefined> {
    if (record.undelivered === undefined) return undefined;
    const { turn, head } = record.undelivered;
    // A request with only new messages continued the head of that time.
    const own = request.hasHistory ? [] : [HistoryFingerprint.from(head, request.messages).end.hash];
    const isSame = [...requestFingerprints, ...own].some(
      (hash) => requestKey(hash, request.asks) === turn.key,
    );
    return isSame ? this.#answer(session, record) : undefined;
  }

  /** Never throws. This process knows of the delivery at once. */
  delivered(session: string, key: string): void {
    this.#noted.set(session, key);
    const writing = this.#write(session, key);
    this.#writes.add(writing);
    void writing.then(() => this.#writes.delete(writing));
  }

  /** A request that continues the session confirms the delivery. */
  async drop({ id, principal }: Owner, { mark }: Undelivered): Promise<void> {
    const { store, log } = this.#parts;
    try {
      await store.answers.delete(principal, undeliveredKey(id, mark));
    } catch (error) {
      // No request can match the row any more, and it expires.
      log.warn({ err: error, session: id }, 'an answer that was delivered could not be deleted');
    }
  }

  /** Resolves when all deliveries are written. */
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
      this.#parts.log.warn({ err: error, session: id }, 'a delivery could not be written');
    } finally {
      if (this.#noted.get(id) === key) this.#noted.delete(id);
    }
  }
}

/**
 * The clients that wait for a turn's answer in this process, from its beginning until the client has
 * the answer or disconnects.
 */
export class TurnReaders {
  readonly #waiting = new Map<string, Set<AbortSignal>>();

  /** `signal` fires when the client disconnects. */
  enter(session: string, turn: string, signal: AbortSignal | undefined): void {
    if (signal === undefined || signal.aborted) return;
    const name = nameOf(session, turn);
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(signal));
    const leave = () => {
      waiting.delete(signal);
      if (waiting.size === 0 && this.#waiting.get(name) === waiting) this.#waiting.delete(name);
    };
    signal.addEventListener('abort', leave, { once: true });
  }

  has(session: string, turn: string): boolean {
    return this.#waiting.has(nameOf(session, turn));
  }

  /** The answer was delivered, or will never come. */
  clear(session: string, turn: string): void {
    this.#waiting.delete(nameOf(session, turn));
  }
}

const nameOf = (session: string, turn: string): string => `${session}\n${turn}`;
