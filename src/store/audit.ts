/** Who decided what, when, why and by which rule. Append only; redacted. */
import type { Page } from './store.js';

export interface NewAuditEntry {
  /** `tool.allowed`, `approval.denied`, `rule.added` … */
  event: string;
  /** Who did it: a principal, or the gateway's own name for what decided. */
  by: string;
  /** Whose session or key it concerns; the filter for people who see only their own. */
  principal: string;
  session?: string;
  tool?: string;
  toolUseId?: string;
  /** What it was about, in one line. */
  what?: string;
  why?: string;
  rule?: string;
  /** What the call was judged by: small JSON. Texts in it are redacted as all others. */
  call?: unknown;
}

export interface AuditEntry extends NewAuditEntry {
  seq: number;
  at: number;
}

export interface AuditQuery {
  principal?: string;
  session?: string;
  /** Not older than this. */
  since?: number;
  /** Only lines that have a `call`, and with it; it is left out of all others. */
  calls?: true;
  cursor?: string;
  limit: number;
}

export interface AuditLog {
  /**
   * Resolves when written. Entries of one turn of the event loop share a transaction, so a caller
   * that need not wait pays next to nothing.
   */
  append(entry: NewAuditEntry): Promise<void>;
  list(query: AuditQuery): Promise<Page<AuditEntry>>;
}
