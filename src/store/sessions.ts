/** Sessions, and what is written through their checkpoints: the transcript, the index of histories, tool calls. */
import type { JsonObject, ToolResultContent } from '../core/conversation.js';
import type { NewAnswer } from './answers.js';
import type { Lease } from './leases.js';
import type { Excerpt } from './search-text.js';
import type { Page } from './store.js';

/** `expired` is never written: it is how a session past its time reads until it is pruned. */
export type SessionState = 'live' | 'parked' | 'hibernated' | 'expired';
export type WritableState = Exclude<SessionState, 'expired'>;

/** How a session's calls are decided, narrower than the configuration has it but for `allow-edits`. */
export const SESSION_MODES = ['ask', 'read-only', 'allow-edits', 'plan'] as const;
export type SessionMode = (typeof SESSION_MODES)[number];

/**
 * The mode of a session that is made of another. That edits need no question was said of one session by somebody
 * who may approve; who goes on with a copy of it may not be the same.
 */
export function inheritedMode(mode: SessionMode): SessionMode {
  return mode === 'allow-edits' ? 'ask' : mode;
}

export interface Session {
  id: string;
  principal: string;
  model: string;
  engine: string;
  state: SessionState;
  /** For people; redacted. What a person called it, else its own. */
  title?: string;
  /** The session this one was forked from. */
  parent?: string;
  /** Since when; left out where it is not. */
  pinnedAt?: number;
  archivedAt?: number;
  /** What a person chose; left out where the configuration's mode holds. */
  mode?: SessionMode;
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
  mode?: SessionMode;
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
  /** Whether people have pinned or archived it; left out: both. */
  pinned?: boolean;
  archived?: boolean;
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

/** Which of them are counted. */
export type CountedSessions = Omit<SessionQuery, 'search' | 'signal' | 'cursor' | 'limit'>;

/** What people make of a session in their lists; what is left out stays. */
export interface SessionLabels {
  /** Null: its own again. */
  title?: string | null;
  pinned?: boolean;
  archived?: boolean;
  /** Null: the configuration's. Going into `plan` remembers what it was before. */
  mode?: SessionMode | null;
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
  /** The key of an answer of the principal that is not given again; one that is not there is ignored. */
  dropAnswer?: string;
  /** The lease ends with this step. */
  release?: true;
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

/** Who takes a session with its first step. */
export interface Claim {
  owner: string;
  ttlMs: number;
  /** As the owner has read it. */
  metadata: JsonObject;
}

export type ClaimOutcome =
  | { ok: true; lease: Lease }
  /** By another node, or by another request of this one. */
  | { ok: false; reason: 'held'; owner: string }
  /** The metadata is no longer what the owner has read. */
  | { ok: false; reason: 'changed' }
  | Extract<CheckpointOutcome, { ok: false }>;

export interface SessionStore {
  /** False when the id is taken. */
  create(session: NewSession): Promise<boolean>;
  get(id: string): Promise<Session | undefined>;
  list(query: SessionQuery): Promise<Page<ListedSession>>;
  /** How many there are; a search is not counted. */
  count(query: CountedSessions): Promise<number>;
  /** `lease` is the session's own: `sessionLease(id)`. */
  checkpoint(id: string, lease: Lease, change: Checkpoint): Promise<CheckpointOutcome>;
  /** Takes the session's lease and writes the first step under it: both, or neither. `step` may be called again. */
  claim(id: string, claim: Claim, step: (lease: Lease) => Checkpoint): Promise<ClaimOutcome>;
  /**
   * Needs no lease, also while a turn runs, and is no use of the session: its place in the list stays.
   * False when it is gone.
   */
  label(id: string, labels: SessionLabels): Promise<boolean>;
  /** Undefined where the configuration's holds, and for what is no session. */
  modeOf(id: string): Promise<SessionMode | undefined>;
  /** From `plan` back to the mode before it. False where it is in another mode. */
  leavePlan(id: string): Promise<boolean>;
  /**
   * With its transcript, index, calls and answers. Its waiting approvals are cancelled, its rules
   * go. False when there was none.
   */
  delete(id: string, by: string): Promise<boolean>;
}

/** The conversation itself; sub-agents and an engine's own records have channels beside it. */
export const MAIN_CHANNEL = 'main';

export interface TranscriptAppend {
  /** `MAIN_CHANNEL` when left out. */
  channel?: string;
  /** Where the writer believes the channel ends (0: empty); checked when given. */
  after?: number;
  entries: readonly NewTranscriptEntry[];
}

export interface NewTranscriptEntry {
  /** An entry whose uuid is in the channel already is skipped: engines repeat a batch they are unsure of. */
  uuid: string;
  /** JSON, kept exactly. */
  message: unknown;
  /** Notes for people (timing, tool activity); JSON, redacted. */
  meta?: unknown;
}

export interface TranscriptEntry extends NewTranscriptEntry {
  /** Dense from 1 in each channel. */
  seq: number;
  at: number;
}

export interface TranscriptRange {
  channel?: string;
  /** Entries with a higher seq than this. */
  after?: number;
  limit?: number;
}

/** What was said, append only. Written through `sessions.checkpoint`. */
export interface TranscriptStore {
  /** In order; empty for a session that is not there. */
  read(session: string, range?: TranscriptRange): Promise<TranscriptEntry[]>;
  channels(session: string): Promise<string[]>;
}

interface HistoryEntry {
  hash: string;
  /** How many messages the hash stands for. */
  position: number;
}

export interface HistoryMatch extends HistoryEntry {
  session: string;
  /** It is the last message of that session: going on from here is no fork. */
  head: boolean;
}

/**
 * Finds a session by what a client echoes: each message's link of the hash chain, by principal.
 * Written through `sessions.checkpoint`; entries live exactly as long as their session.
 */
export interface HistoryIndex {
  /**
   * `chain` is the client's history, shortest prefix first. The last hash in it that a session of
   * this principal knows wins; among several sessions one that ends there, then the latest used.
   */
  longestPrefix(principal: string, chain: readonly string[]): Promise<HistoryMatch | undefined>;
  /**
   * Sessions of this principal that know the hash, at most `limit`: first those whose metadata has
   * this `prompt` (none is the same as an empty one), then in the same order.
   */
  find(principal: string, hash: string, options: { limit: number; prompt: string }): Promise<HistoryMatch[]>;
}

/**
 * Tool calls that wait, and their results. A call is opened by `sessions.checkpoint` before it is
 * handed back or run, its result is recorded here before anything acts on it, and the checkpoint
 * that acts on it marks it used.
 */
export interface NewToolCall {
  /** The tool_use id; an id is opened once in a session. */
  id: string;
  name: string;
  input: JsonObject;
  /** `server`: a built-in. Open without a result after a restart, it may or may not have run. */
  runBy: 'client' | 'server';
}

export interface PendingToolCall extends NewToolCall {
  session: string;
  state: 'open' | 'answered' | 'used';
  openedAt: number;
  result?: ToolCallResult;
}

interface ToolCallResult {
  content: ToolResultContent[];
  isError: boolean;
  recordedAt: number;
  /** The principal for a client's result, the node for one of its own (built-in, time-out). */
  recordedBy: string;
}

export interface NewToolCallResult {
  id: string;
  content: readonly ToolResultContent[];
  isError: boolean;
}

/** Each id is in one list. With a conflict or an unknown id nothing was written, and `recorded` is empty. */
export interface RecordOutcome {
  recorded: string[];
  /** The same result was there already (key order apart). */
  repeated: string[];
  /** Another result was first; it stands. */
  conflicts: { id: string; recordedAt: number; recordedBy: string }[];
  unknown: string[];
}

export interface ToolCallStore {
  /** Needs no lease: results arrive on any node, which records them before it notifies the owner. */
  record(session: string, results: readonly NewToolCallResult[], by: string): Promise<RecordOutcome>;
  /** Every call of the session in the order they were opened. */
  list(session: string): Promise<PendingToolCall[]>;
  /** Calls with these ids in the principal's sessions that have not expired. */
  find(principal: string, ids: readonly string[]): Promise<PendingToolCall[]>;
}
