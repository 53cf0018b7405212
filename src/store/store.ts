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
import type { AnswerStore } from './answers.js';
import type { ApprovalStore } from './approvals.js';
import type { AuditLog } from './audit.js';
import type { LeaseStore } from './leases.js';
import type { LimitOverrides } from './limits.js';
import type { RuleStore } from './rules.js';
import type { RunStore } from './runs.js';
import type { HistoryIndex, SessionStore, ToolCallStore, TranscriptStore } from './sessions.js';
import type { SignInStore } from './sign-ins.js';
import type { TraceStore } from './traces.js';
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
  /**
   * Deletes what is too old or too much, in steps that each take a few milliseconds. Safe to call
   * from several nodes at once; a call while one runs in this process joins it. Rejects when the
   * store is closed meanwhile.
   */
  prune(now?: number): Promise<PruneReport>;
  /** What `doctor` and `/readyz` ask; rejects when the store does not answer. */
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
}

/** Newest first. `next` continues after the last item and is absent on the last page. */
export interface Page<T> {
  items: T[];
  next?: string;
}

export interface StoreInfo {
  kind: 'sqlite';
  /** A path, or `:memory:`. */
  location: string;
  schemaVersion: number;
  sizeBytes: number;
}

/** Rows deleted, by area. */
export interface PruneReport {
  sessions: number;
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
