/**
 * The store: everything that outlives a request. One interface, so that SQLite in one file and a
 * database shared by many nodes are the same to the rest of the gateway.
 *
 * What every implementation promises:
 * - Nothing is true because a process remembers it. Ownership is a lease with a fencing token, and
 *   every decision is a compare-and-set: of two that race, exactly one wins and the other learns that it lost.
 * - A promise that resolves means written: the record survives the death of the process. Only
 *   `traces.record` and `usage.record` are buffered, because nothing acts on them.
 * - Methods reject with GatewayError `unavailable` when the store cannot be used just now; anything
 *   else thrown is a bug. Refusals that a caller has to handle are values, not errors.
 * - Times are milliseconds since the epoch, by the clock given at open.
 */
import type { GatewayError } from '../core/errors.js';
import type { AnswerStore } from './answers.js';
import type { ApprovalStore } from './approvals.js';
import type { AuditLog } from './audit.js';
import type { Bus } from './bus.js';
import type { KeyStore } from './keys.js';
import type { LeaseStore } from './leases.js';
import type { LimitClaimStore } from './limit-claims.js';
import type { LimitOverrides } from './limits.js';
import type { McpStore } from './mcp.js';
import type { NodeStore } from './nodes.js';
import type { OutboxStore, SecretStore } from './outbox.js';
import type { PresenceStore } from './presence.js';
import type { PushStore } from './push.js';
import type { RuleStore } from './rules.js';
import type { RunStore } from './runs.js';
import type {
  HistoryIndex,
  SessionStore,
  ToolCallStore,
  TranscriptStore,
  WritableState,
} from './sessions.js';
import type { SignInStore } from './sign-ins.js';
import type { TraceStore } from './traces.js';
import type { TransferStore } from './transfer.js';
import type { UpstreamStore } from './upstreams.js';
import type { UsageStore } from './usage.js';

export interface Store {
  readonly leases: LeaseStore;
  readonly sessions: SessionStore;
  readonly transcripts: TranscriptStore;
  readonly index: HistoryIndex;
  readonly toolCalls: ToolCallStore;
  readonly answers: AnswerStore;
  readonly approvals: ApprovalStore;
  readonly rules: RuleStore;
  readonly audit: AuditLog;
  readonly traces: TraceStore;
  readonly quirks: QuirkStore;
  readonly usage: UsageStore;
  readonly runs: RunStore;
  readonly signIns: SignInStore;
  readonly keys: KeyStore;
  readonly upstreams: UpstreamStore;
  readonly mcp: McpStore;
  readonly outbox: OutboxStore;
  readonly secrets: SecretStore;
  readonly push: PushStore;
  /** What is moved to another store. */
  readonly transfer: TransferStore;
  /**
   * A copy of the store as it is now, whole, in a file that is there and empty. Absent where the database has
   * programs of its own for that.
   */
  backup?(file: string): Promise<void>;
  /** What any process on this store has changed. */
  readonly bus: Bus;
  /** Only where several machines can share the store. */
  readonly nodes?: NodeStore;
  readonly presence?: PresenceStore;
  readonly limitClaims?: LimitClaimStore;
  /**
   * Deletes what is too old or too much, in steps that each take a few milliseconds. Safe to call
   * from several nodes at once; a call while one runs in this process joins it. Rejects when the
   * store is closed meanwhile.
   */
  prune(now?: number): Promise<PruneReport>;
  /** Writes something, as `/readyz` wants to know; rejects with what is wrong where the store cannot be used. */
  probe(): Promise<void>;
  /** For metrics. */
  figures(): Promise<StoreFigures>;
  /** What `doctor` asks; rejects when the store does not answer. */
  info(): Promise<StoreInfo>;
  /** Writes what is buffered, then closes. Later calls reject; closing twice is harmless. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Relative paths are relative to this folder: the configuration file's. */
  baseDir: string;
  /**
   * Takes secrets out of a text. Applied to everything that is only ever shown to people: traces,
   * audit, evidence, titles, notes on transcript entries, model names in usage. Never to what is
   * executed, sent on or compared (messages, tool input, results, answers, session metadata): a
   * conversation that was changed on disk would go on differently after a restart, its hashes would
   * no longer match what the client echoes, and an approval would run another input than was shown.
   */
  redact?: (text: string) => string;
  /**
   * Whether `redact` would surely change nothing in any part of this UTF-8. Spares recorded bodies
   * being decoded for it; without it all of them are.
   */
  isClean?: (utf8: Uint8Array) => boolean;
  now?: () => number;
  limits?: LimitOverrides;
  /** Called when a buffered write failed; the rows are lost, the gateway goes on. */
  onError?: (error: unknown) => void;
  /** Called once where a database on another machine is waited for at the start. */
  onWait?: (error: GatewayError) => void;
}

/** Newest first. `next` continues after the last item and is absent on the last page. */
export interface Page<T> {
  items: T[];
  next?: string;
}

export interface StoreInfo {
  kind: 'sqlite' | 'postgres';
  /** A path, `:memory:`, or a database and its host. */
  location: string;
  schemaVersion: number;
  sizeBytes: number;
}

export interface StoreFigures {
  /** How many sessions are in which state. */
  sessions: Record<WritableState, number>;
  /** Approvals that wait for a person. */
  approvalsWaiting: number;
  /** Leases that are held. */
  leases: number;
}

/** Rows deleted, by area. */
export interface PruneReport {
  sessions: number;
  /** Sessions that were ended before their time, because there are too many. They are deleted later. */
  evicted: number;
  answers: number;
  approvals: number;
  rules: number;
  audit: number;
  traces: number;
  quirks: number;
  usage: number;
  leases: number;
  runs: number;
  signIns: number;
  keys: number;
  /** Tools that were pinned by a rule that is gone. */
  pins: number;
  outbox: number;
}

/** What an upstream's own errors taught us. */
export interface LearnedQuirk {
  upstream: string;
  /** The upstream's own model name. */
  model: string;
  key: string;
  /** JSON. */
  value: unknown;
  /** The error it was learned from; redacted. */
  evidence: string;
  learnedAt: number;
}

export interface QuirkStore {
  /** The latest lesson for an upstream, model and key replaces the one before. */
  put(quirk: Omit<LearnedQuirk, 'learnedAt'>): Promise<void>;
  /** All of them: they are few, are loaded at start and shown by `doctor`. */
  list(): Promise<LearnedQuirk[]>;
}
