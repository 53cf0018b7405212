import type { AuditEntry, AuditLog, AuditQuery, NewAuditEntry } from '../audit.js';
import { redactJson } from '../json.js';
import type { Page } from '../store.js';
import { WriteBuffer } from '../write-buffer.js';
import type { Context } from './context.js';
import { Conditions, numberCursor, pageSize, toPage } from './paging.js';
import { number, optionalJson, optionalText, type Row, text, toJson, whole } from './rows.js';

const COLUMNS = 'seq, at, event, actor, principal, session, tool, tool_use_id, what, why, rule';

/** Columns beyond the text: what a row weighs in the size cap. */
const ROW_SIZE = 64;

export class SqliteAudit implements AuditLog {
  readonly #context: Context;
  readonly #buffer: WriteBuffer<AuditEntry>;

  constructor(context: Context) {
    this.#context = context;
    const { database, limits } = context;
    // Relaxed: a person's decision is written by its own durable transaction, these are the
    // automatic ones, which happen with every tool call.
    this.#buffer = new WriteBuffer({
      write: (entries) =>
        database.write(() => {
          for (const entry of entries) insertAudit(context, entry, entry.at);
        }, 'relaxed'),
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
    const { database } = this.#context;
    await this.#buffer.flush();
    const where = new Conditions();
    where.add('seq < ?', numberCursor(query.cursor));
    where.equal('principal', query.principal);
    where.equal('session', query.session);
    if (query.since !== undefined) where.add('at >= ?', query.since);
    if (query.calls) where.add('call IS NOT NULL');
    const columns = query.calls ? `${COLUMNS}, call` : COLUMNS;
    const sql = `SELECT ${columns} FROM audit WHERE ${where} ORDER BY seq DESC LIMIT ?`;
    const rows = await database.read(() => database.all(sql, [...where.params, pageSize(query.limit) + 1]));
    return toPage(rows, query.limit, readEntry, (row) => String(number(row, 'seq')));
  }

  flush(): Promise<void> {
    return this.#buffer.flush();
  }
}

/** Inside a transaction, so that a decision and its line are one. */
export function insertAudit(context: Context, entry: NewAuditEntry, at = context.now()): void {
  const { database, redact } = context;
  const clean = (value: string | undefined) => (value === undefined ? null : redact(value));
  const texts = [clean(entry.what), clean(entry.why), clean(entry.rule)];
  const call = entry.call === undefined ? null : toJson(redactJson(entry.call, redact));
  const size = [...texts, call].reduce((sum, value) => sum + (value?.length ?? 0), ROW_SIZE);
  database.run(
    `INSERT INTO audit (at, event, actor, principal, session, tool, tool_use_id, size, what, why, rule, call)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      whole(at),
      entry.event,
      clean(entry.by),
      entry.principal,
      entry.session ?? null,
      clean(entry.tool),
      entry.toolUseId ?? null,
      size,
      ...texts,
      call,
    ],
  );
}

function readEntry(row: Row): AuditEntry {
  const session = optionalText(row, 'session');
  const tool = optionalText(row, 'tool');
  const toolUseId = optionalText(row, 'tool_use_id');
  const what = optionalText(row, 'what');
  const why = optionalText(row, 'why');
  const rule = optionalText(row, 'rule');
  const call = row['call'] === undefined ? undefined : optionalJson<unknown>(row, 'call');
  return {
    seq: number(row, 'seq'),
    at: number(row, 'at'),
    event: text(row, 'event'),
    by: text(row, 'actor'),
    principal: text(row, 'principal'),
    ...(session !== undefined && { session }),
    ...(tool !== undefined && { tool }),
    ...(toolUseId !== undefined && { toolUseId }),
    ...(what !== undefined && { what }),
    ...(why !== undefined && { why }),
    ...(rule !== undefined && { rule }),
    ...(call !== undefined && { call }),
  };
}
