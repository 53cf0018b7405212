/**
 * Answers that a session gives again: to a repeated `Idempotency-Key`, to repeated results, and those
 * that are undelivered. The process may die or the connection break after an answer is written and
 * before it is sent. Until the delivery is confirmed, the same request gets the stored answer, so
 * that nothing runs twice.
 *
 * The answer's row is the truth; the session's record only says where to look. So a delivery is
 * written without the session's lease, which another process may want at that moment.
 */
import * as z from 'zod';
import { type AnswerKey, AnswerMemory } from '../../answers/answer-memory.js';
import { onAbort } from '../../core/stopping.js';
import type { RecordedAnswer } from '../../store/answers.js';
import {
  digest,
  type FingerprintedRequest,
  HistoryFingerprint,
  requestKey,
} from '../history/history-fingerprint.js';
import type { SessionReader } from '../persistence/session-reader.js';
import { type SessionRow, type TurnRow, turnRow } from '../persistence/session-row.js';
import { LIMITS, type SessionParts } from '../session-parts.js';
import type { AttachRequest, GivenAnswer } from '../sessions.js';

/** Enough to recognize the request, and its answer. */
export interface KeptAnswer {
  answer: GivenAnswer;
  turn: TurnRow;
}

// The blocks were written by this program and are read by it alone.
const isAnswer = (value: unknown): value is GivenAnswer =>
  typeof value === 'object' && value !== null && 'blocks' in value && Array.isArray(value.blocks);
const keptAnswer = z.object({ answer: z.custom<GivenAnswer>(isAnswer), turn: turnRow });

const readAnswer = (row: RecordedAnswer | undefined): KeptAnswer | undefined =>
  row && keptAnswer.parse(row.body);

const sessionKey = (key: string): AnswerKey => ({ kind: 'session', keyDigest: digest(key) });

/** Digest of what the client sent, whichever session it was matched with. */
function idempotencyDigest(
  { id, engine, root }: AttachRequest,
  { fingerprint, asks }: FingerprintedRequest,
): string {
  return digest(id ?? '', engine, root, requestKey(fingerprint.end.hash, asks));
}

/** Where a turn's answer is kept for repeats; undefined: until it is delivered. */
export function answerKeyOf(
  session: string,
  turn: TurnRow,
  from: AttachRequest,
  request: FingerprintedRequest,
): { key: AnswerKey; digest: string } | undefined {
  if (turn.batch !== undefined) {
    return { key: { kind: 'results', session, mark: turn.batch }, digest: turn.key };
  }
  if (from.idempotencyKey === undefined) return undefined;
  return { key: sessionKey(from.idempotencyKey), digest: idempotencyDigest(from, request) };
}

/** A request that continues the session confirms the delivery, and drops the row. */
export const undeliveredKey = (session: string, mark: number): AnswerKey => ({
  kind: 'undelivered',
  session,
  mark,
});

interface Owner {
  id: string;
  principal: string;
}

export class Deliveries {
  readonly #answers: AnswerMemory;
  readonly #log: SessionParts['log'];
  readonly #reader: SessionReader;
  /** Delivered turns by session, until the delivery is written. */
  readonly #noted = new Map<string, string>();
  /** What this process wrote last for a session and is to deliver, so that it need not be read. */
  readonly #due = new Map<string, DueAnswer>();
  readonly #writes = new Set<Promise<void>>();

  constructor({ store, log }: Pick<SessionParts, 'store' | 'log'>, reader: SessionReader) {
    this.#answers = new AnswerMemory(store.answers);
    this.#log = log;
    this.#reader = reader;
  }

  /** Rejects with `unprocessable` where the request's `Idempotency-Key` is another request's. */
  async underKey(
    from: AttachRequest,
    request: FingerprintedRequest,
  ): Promise<(KeptAnswer & { session: string }) | undefined> {
    if (from.idempotencyKey === undefined) return undefined;
    const digest = idempotencyDigest(from, request);
    const row = await this.#answers.get(from.principal, sessionKey(from.idempotencyKey), digest);
    const kept = readAnswer(row);
    return kept && row?.session !== undefined ? { ...kept, session: row.session } : undefined;
  }

  /** The answer to results of the tool calls at `mark`, whichever way they were split. */
  async toResults({ id, principal }: Owner, mark: number): Promise<KeptAnswer | undefined> {
    return readAnswer(await this.#answers.get(principal, { kind: 'results', session: id, mark }));
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

  /** The session has this answer, which somebody is about to receive. */
  expect({ id, principal }: Owner, { undelivered }: SessionRow): void {
    this.#due.delete(id);
    if (undelivered === undefined) return;
    this.#due.set(id, { principal, key: undelivered.turn.key, mark: undelivered.mark });
    const [oldest] = this.#due.keys();
    if (oldest !== undefined && this.#due.size > LIMITS.dueAnswers) this.#due.delete(oldest);
  }

  /** Never throws. This process knows of the delivery at once. */
  delivered(session: string, key: string): void {
    this.#noted.set(session, key);
    const writing = this.#write(session, key);
    this.#writes.add(writing);
    void writing.then(() => this.#writes.delete(writing));
  }

  /** Resolves when all deliveries are written. */
  async close(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #answer({ id, principal }: Owner, { undelivered }: SessionRow): Promise<KeptAnswer | undefined> {
    if (undelivered === undefined || undelivered.turn.key === this.#noted.get(id)) return undefined;
    return readAnswer(await this.#answers.get(principal, undeliveredKey(id, undelivered.mark)));
  }

  async #dueIn(id: string): Promise<DueAnswer | undefined> {
    const head = await this.#reader.head(id);
    const undelivered = head?.record.undelivered;
    if (head === undefined || undelivered === undefined) return undefined;
    return { principal: head.session.principal, key: undelivered.turn.key, mark: undelivered.mark };
  }

  async #write(id: string, key: string): Promise<void> {
    try {
      const known = this.#due.get(id);
      // Another process may have written the answer that this one delivers.
      const due = known?.key === key ? known : await this.#dueIn(id);
      if (due?.key !== key) return;
      this.#due.delete(id);
      // After a power cut the same request gets the same answer once more: not worth an fsync.
      await this.#answers.delete(due.principal, undeliveredKey(id, due.mark), 'relaxed');
    } catch (error) {
      this.#log.warn({ err: error, session: id }, 'a delivery could not be written');
    } finally {
      if (this.#noted.get(id) === key) this.#noted.delete(id);
    }
  }
}

interface DueAnswer {
  principal: string;
  /** Of the turn. */
  key: string;
  mark: number;
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
    onAbort(signal, () => {
      waiting.delete(signal);
      if (waiting.size === 0 && this.#waiting.get(name) === waiting) this.#waiting.delete(name);
    });
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
