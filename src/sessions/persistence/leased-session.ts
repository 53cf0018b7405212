/** A session whose lease this process holds: every write to it goes through here. */
import type { JsonObject } from '../../core/conversation.js';
import type { Lease } from '../../store/leases.js';
import {
  type Checkpoint,
  type ClaimOutcome,
  MAIN_CHANNEL,
  type NewTranscriptEntry,
  type Session,
} from '../../store/sessions.js';
import { busy, busyElsewhere, ended, lost } from '../refusals.js';
import { LIMITS, type SessionParts } from '../session-parts.js';
import type { LeaseKeeper } from './lease-keeper.js';
import {
  type LogEntry,
  RECORD_CHANNEL,
  type RecordEntry,
  SETUP_CHANNEL,
  type SessionRow,
  type SetupEntry,
  TURNS_CHANNEL,
  type TurnEntry,
} from './session-row.js';
import { entryId, type TranscriptLog, toRows } from './transcript-log.js';

export interface SessionWrite extends Omit<Checkpoint, 'append' | 'metadata' | 'expiresAt'> {
  main?: readonly LogEntry[];
  turns?: readonly TurnEntry[];
  setup?: readonly SetupEntry[];
  /** What people were shown. */
  records?: readonly (RecordEntry & { shown: unknown })[];
  /** Changes of the record. */
  record?: Partial<SessionRow>;
}

/** The lease is taken with the first write, which is refused where the session has changed since it was read. */
interface Unclaimed {
  /** As it was read. */
  metadata: JsonObject;
  onLost(): void;
}

/** The first write is to be made anew: another request changed the session meanwhile. */
export class SessionChanged extends Error {}

interface LeasedSessionOptions {
  parts: SessionParts;
  keeper: LeaseKeeper;
  session: Pick<Session, 'id' | 'principal'>;
  record: SessionRow;
  log: TranscriptLog;
  lease: Lease | Unclaimed;
}

export class LeasedSession {
  readonly id: string;
  readonly principal: string;
  readonly log: TranscriptLog;
  record: SessionRow;
  readonly #parts: SessionParts;
  readonly #keeper: LeaseKeeper;
  #lease: Lease | Unclaimed;
  /** Unknown until something is written. */
  #expiresAt = 0;

  constructor({ parts, keeper, session, record, log, lease }: LeasedSessionOptions) {
    this.#parts = parts;
    this.#keeper = keeper;
    this.id = session.id;
    this.principal = session.principal;
    this.record = record;
    this.log = log;
    this.#lease = lease;
  }

  /**
   * Atomic. Rejects with `conflict` when the session is gone or another process has the lease, with
   * SessionChanged where it takes the lease and the session has changed; false when a call was opened before.
   */
  async write({
    main = [],
    turns = [],
    setup = [],
    records = [],
    record,
    ...step
  }: SessionWrite): Promise<boolean> {
    const { now, ttlMs } = this.#parts;
    const before = this.record;
    const next: SessionRow = {
      ...before,
      ...record,
      turns: before.turns + turns.length,
      records: before.records + records.length,
    };
    const append = [
      { channel: MAIN_CHANNEL, entries: main, after: this.log.length },
      { channel: TURNS_CHANNEL, entries: turns, after: before.turns },
      { channel: SETUP_CHANNEL, entries: setup, after: before.setup.count },
    ].filter(({ entries }) => entries.length > 0);
    const changed = record !== undefined || turns.length > 0 || setup.length > 0;
    const expiresAt = now() + ttlMs;
    const outcome = await this.#checkpoint(({ token }) => ({
      ...step,
      append: [
        ...append.map((each) => ({ ...each, entries: toRows(each.entries, each.after, token) })),
        ...(records.length === 0 ? [] : [this.#recordRows(records, token)]),
      ],
      ...(changed && { metadata: next }),
      expiresAt,
    }));
    if (outcome.ok) {
      this.#expiresAt = expiresAt;
      this.record = next;
      this.log.push(main, entryId(outcome.lease.token, this.log.length + main.length));
      return true;
    }
    switch (outcome.reason) {
      case 'answered': {
        // Another request with the same key was faster: only the copy of this answer is dropped.
        const { answer: _, ...rest } = step;
        return this.write({ ...rest, main, turns, setup, records, ...(record !== undefined && { record }) });
      }
      case 'reopened':
        return false;
      case 'changed':
        throw new SessionChanged();
      case 'held':
        throw this.#keeper.isOwn(outcome) ? busy(this.id) : busyElsewhere(this.id, outcome.owner);
      case 'gone':
        throw ended(this.id);
      case 'fenced':
      case 'moved':
        throw lost(this.id);
      case 'unusable':
        throw new Error(`A step of the session ${this.id} was refused: ${JSON.stringify(outcome)}`);
    }
  }

  /** Where the channel ends is not known for sure: other writers count it only now and then. */
  #recordRows(records: NonNullable<SessionWrite['records']>, token: number) {
    const entries = records.map(({ shown, ...message }, index): NewTranscriptEntry => {
      return { uuid: entryId(token, this.record.records + index + 1), message, meta: shown };
    });
    return { channel: RECORD_CHANNEL, entries };
  }

  /** Extends the expiry for a turn that writes nothing for long. */
  async renew(): Promise<void> {
    const { now, ttlMs } = this.#parts;
    const expiresAt = now() + ttlMs;
    if (this.#expiresAt - now() > ttlMs * (1 - 1 / LIMITS.beatsPerLease)) return;
    const { ok } = await this.#checkpoint(() => ({ expiresAt }));
    if (ok) this.#expiresAt = expiresAt;
  }

  /** Does not extend the expiry. */
  async hibernate(): Promise<void> {
    const outcome = await this.#checkpoint(() => ({ state: 'hibernated' }));
    if (!outcome.ok) throw lost(this.id);
  }

  /** Never rejects. Does nothing where the lease was not taken, or was released with the last write. */
  async release(): Promise<void> {
    if (isTaken(this.#lease)) await this.#keeper.release(this.#lease);
  }

  async #checkpoint(step: (lease: Lease) => Checkpoint): Promise<ClaimOutcome> {
    const { sessions } = this.#parts.store;
    const lease = this.#lease;
    let releases = false;
    const noted = (held: Lease): Checkpoint => {
      const change = step(held);
      releases = change.release === true;
      return change;
    };
    const outcome = await (isTaken(lease)
      ? sessions.checkpoint(this.id, lease, noted(lease))
      : this.#keeper.claim(this.id, lease.metadata, noted, lease.onLost));
    if (!outcome.ok) return outcome;
    const held = 'lease' in outcome ? outcome.lease : lease;
    if (!isTaken(held)) throw new Error('A step was written without a lease.');
    this.#lease = held;
    // At once: the next heartbeat would take it for lost.
    if (releases) this.#keeper.released(held);
    return { ok: true, lease: held };
  }
}

const isTaken = (lease: Lease | Unclaimed): lease is Lease => 'token' in lease;
