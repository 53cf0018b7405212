import type { AuditEntry, AuditLog, AuditQuery, NewAuditEntry } from '../audit.js';
import { AUDIT_COLUMNS, auditList, auditValues, readAuditEntry } from '../sql/audit.js';
import { toPage } from '../sql/paging.js';
import { number } from '../sql/rows.js';
import type { Page } from '../store.js';
import { WriteBuffer } from '../write-buffer.js';
import type { Context } from './context.js';
import { insertRows, type Queries } from './database.js';

export class PostgresAudit implements AuditLog {
  readonly #context: Context;
  readonly #buffer: WriteBuffer<AuditEntry>;

  constructor(context: Context) {
    this.#context = context;
    const { database, limits } = context;
    // Relaxed: a person's decision is written by its own durable transaction, these are the
    // automatic ones, which happen with every tool call.
    this.#buffer = new WriteBuffer({
      write: (entries) =>
        database.transaction((queries) => insertAudit(context, queries, entries), 'relaxed'),
      delayMs: 0,
      flushRows: limits.buffer.flushRows,
      maxRows: limits.buffer.maxRows,
      onError: context.onError,
    });
  }

  append(entry: NewAuditEntry): Promise<void> {
    return this.#buffer.add({ ...entry, seq: 0, at: this.#context.now() });
  }

  async list(query: AuditQuery): Promise<Page<AuditEntry>> {
    await this.#buffer.flush();
    const { sql, params } = auditList(query);
    const rows = await this.#context.database.all(sql, params);
    return toPage(rows, query.limit, readAuditEntry, (row) => String(number(row, 'seq')));
  }

  flush(): Promise<void> {
    return this.#buffer.flush();
  }
}

/** Inside a transaction, so that a decision and its line are one. */
export async function insertAudit(
  { now, redact }: Context,
  queries: Queries,
  entries: readonly (NewAuditEntry & { at?: number })[],
): Promise<void> {
  const rows = entries.map((entry) => auditValues(entry, entry.at ?? now(), redact));
  await insertRows(queries, `audit (${AUDIT_COLUMNS})`, rows);
}
