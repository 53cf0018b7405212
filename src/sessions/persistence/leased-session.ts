/** A session whose lease this process holds: every write to it goes through here. */
import type { Lease } from '../../store/leases.js';
import { type Checkpoint, MAIN_CHANNEL, type Session } from '../../store/sessions.js';
import { ended, lost } from '../refusals.js';
import { LIMITS, type SessionParts } from '../session-parts.js';
import {
  type LogEntry,
  SETUP_CHANNEL,
  type SessionRow,
  type SetupEntry,
  TURNS_CHANNEL,
  type TurnEntry,
} from './session-row.js';
import { type TranscriptLog, toRows } from './transcript-log.js';

export interface Step extends Omit<Checkpoint, 'append' | 'metadata' | 'expiresAt'> {
  main?: readonly LogEntry[];
  turns?: readonly TurnEntry[];
  setup?: readonly SetupEntry[];
  /** Changes of the record. */
  record?: Partial<SessionRow>;
}

export class LeasedSession {
  readonly id: string;
  readonly principal: string;
  readonly lease: Lease;
  readonly log: TranscriptLog;
  record: SessionRow;
  readonly #parts: SessionParts;
  /** Unknown until something is written. */
  #expiresAt = 0;

  constructor(
    parts: SessionParts,
    session: Pick<Session, 'id' | 'principal'>,
    record: SessionRow,
    log: TranscriptLog,
    lease: Lease,
  ) {
    this.#parts = parts;
    this.id = session.id;
    this.principal = session.principal;
    this.record = record;
    this.log = log;
    this.lease = lease;
  }

  /**
   * Atomic. Rejects with `conflict` when the session is gone or another process has the lease; false
   * when a call was opened before.
   */
  async write({ main = [], turns = [], setup = [], record, ...step }: Step): Promise<boolean> {
    const { store, now, ttlMs } = this.#parts;
    const { token } = this.lease;
    const before = this.record;
    const next: SessionRow = {
      ...before,
      ...record,
      turns: before.turns + turns.length,
    };
    const append = [
      { channel: MAIN_CHANNEL, entries: main, after: this.log.length },
      { channel: TURNS_CHANNEL, entries: turns, after: before.turns },
      { channel: SETUP_CHANNEL, entries: setup, after: before.setup.count },
    ].flatMap(({ channel, entries, after }) => {
      if (entries.length === 0) return [];
      return [{ channel, after, entries: toRows(entries, after, token) }];
    });
    const changed = record !== undefined || turns.length > 0 || setup.length > 0;
    const expiresAt = now() + ttlMs;
    const outcome = await store.sessions.checkpoint(this.id, this.lease, {
      ...step,
      ...(append.length > 0 && { append }),
      ...(changed && { metadata: next }),
      expiresAt,
    });
    if (outcome.ok) {
      this.#expiresAt = expiresAt;
      this.record = next;
      this.log.push(main, append.find(({ channel }) => channel === MAIN_CHANNEL)?.entries.at(-1)?.uuid);
      return true;
    }
    switch (outcome.reason) {
      case 'answered': {
        // Another request with the same key was faster: only the copy of this answer is dropped.
        const { answer: _, ...rest } = step;
        return this.write({ ...rest, main, turns, setup, ...(record !== undefined && { record }) });
      }
      case 'reopened':
        return false;
      case 'gone':
        throw ended(this.id);
      case 'fenced':
      case 'moved':
        throw lost(this.id);
      case 'unusable':
        throw new Error(`A step of the session ${this.id} was refused: ${JSON.stringify(outcome)}`);
    }
  }

  /** Extends the expiry for a turn that writes nothing for long. */
  async renew(): Promise<void> {
    const { store, now, ttlMs } = this.#parts;
    const expiresAt = now() + ttlMs;
    if (this.#expiresAt - now() > ttlMs * (1 - 1 / LIMITS.beatsPerLease)) return;
    const { ok } = await store.sessions.checkpoint(this.id, this.lease, { expiresAt });
    if (ok) this.#expiresAt = expiresAt;
  }

  /** Does not extend the expiry. */
  async hibernate(): Promise<void> {
    const { store } = this.#parts;
    const outcome = await store.sessions.checkpoint(this.id, this.lease, { state: 'hibernated' });
    if (!outcome.ok) throw lost(this.id);
  }
}
