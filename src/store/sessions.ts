import type { JsonObject } from '../core/conversation.js';
import type { NewAnswer } from './answers.js';
import type { Excerpt } from './excerpt.js';
import type { HistoryEntry } from './history-index.js';
import type { Lease } from './leases.js';
import type { Page } from './store.js';
import type { NewToolCall } from './tool-calls.js';
import type { TranscriptAppend } from './transcripts.js';

/** `expired` is never written: it is how a session past its time reads until it is pruned. */
export type SessionState = 'live' | 'parked' | 'hibernated' | 'expired';
export type WritableState = Exclude<SessionState, 'expired'>;

export interface Session {
  id: string;
  principal: string;
  model: string;
  engine: string;
  state: SessionState;
  /** For people; redacted. */
  title?: string;
  /** The session this one was forked from. */
  parent?: string;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
  /** The engine's own: client tools, folder, resume points. Kept exactly. */
  metadata: JsonObject;
}

export type NewSession = Pick<Session, 'id' | 'principal' | 'model' | 'engine' | 'expiresAt'> & {
  state: WritableState;
  title?: string;
  parent?: string;
  metadata?: JsonObject;
};

export interface SessionQuery {
  principal?: string;
  /** One of these. */
  states?: readonly SessionState[];
  /** Only these; none of these. */
  among?: readonly string[];
  except?: readonly string[];
  /** Whether questions of it wait for a person. */
  waiting?: boolean;
  /** A turn has begun (`turn` in the metadata), and neither come to its end nor been stopped. */
  turnOpen?: true;
  /**
   * Words, or parts of words. Each is in the title, the model's name, the id or in what was said;
   * case and accents do not count, and no character means anything but itself. A page may have fewer
   * than `limit` although there is a next one: one answer looks only so far back. What has expired is
   * not found.
   */
  search?: string;
  /** Ends a search, which then rejects with its reason. */
  signal?: AbortSignal;
  cursor?: string;
  limit: number;
}

export interface ListedSession extends Session {
  /** Where a search found a word in what was said; redacted. */
  match?: Excerpt;
}

/**
 * One step of a session, written whole or not at all: whatever a turn does next (call the model,
 * run a tool, answer the client) stands on a checkpoint that holds everything before it.
 */
export interface Checkpoint {
  state?: WritableState;
  title?: string;
  /** Of the last request. */
  model?: string;
  metadata?: JsonObject;
  expiresAt?: number;
  append?: readonly TranscriptAppend[];
  index?: readonly HistoryEntry[];
  /** Calls that are about to be handed back or run. */
  open?: readonly NewToolCall[];
  /** Calls whose results this step consumes: each must be answered and not yet used. */
  use?: readonly string[];
  answer?: Omit<NewAnswer, 'principal' | 'session'>;
}

export type CheckpointOutcome =
  | { ok: true }
  /** The lease was lost: another process owns the session now. Stop. */
  | { ok: false; reason: 'fenced' }
  /** Deleted or expired. */
  | { ok: false; reason: 'gone' }
  /** `append.after` is not where the channel ends. */
  | { ok: false; reason: 'moved'; channel: string; last: number }
  /** These calls were opened before: they may have run. */
  | { ok: false; reason: 'reopened'; ids: string[] }
  /** These results are not there, or another step has used them. */
  | { ok: false; reason: 'unusable'; ids: string[] }
  /** The request has its answer already. */
  | { ok: false; reason: 'answered' };

export interface SessionStore {
  /** False when the id is taken. */
  create(session: NewSession): Promise<boolean>;
  get(id: string): Promise<Session | undefined>;
  list(query: SessionQuery): Promise<Page<ListedSession>>;
  /** `lease` is the session's own: `sessionLease(id)`. */
  checkpoint(id: string, lease: Lease, change: Checkpoint): Promise<CheckpointOutcome>;
  /**
   * With its transcript, index, calls and answers. Its waiting approvals are cancelled, its rules
   * go. False when there was none.
   */
  delete(id: string, by: string): Promise<boolean>;
}
