import type { AuditEntry, AuditQuery, NewAuditEntry } from '../audit.js';
import { redactJson } from '../json.js';
import { pageSize } from '../pages.js';
import { Conditions, numberCursor } from './paging.js';
import { number, optionalJson, optionalText, type Row, type SqlValue, text, toJson, whole } from './rows.js';

const LISTED = 'seq, at, event, actor, principal, session, tool, tool_use_id, what, why, rule';

/** Columns beyond the text: what a row weighs in the size cap. */
const ROW_SIZE = 64;

export const AUDIT_COLUMNS =
  'at, event, actor, principal, session, tool, tool_use_id, size, what, why, rule, call';

/** Redacted: what it gives may be written. */
export function auditValues(entry: NewAuditEntry, at: number, redact: (text: string) => string): SqlValue[] {
  const clean = (value: string | undefined) => (value === undefined ? null : redact(value));
  const texts = [clean(entry.what), clean(entry.why), clean(entry.rule)];
  const call = entry.call === undefined ? null : toJson(redactJson(entry.call, redact));
  const size = [...texts, call].reduce((sum, value) => sum + (value?.length ?? 0), ROW_SIZE);
  return [
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
  ];
}

/** One row more than the page has. */
export function auditList(query: AuditQuery): { sql: string; params: SqlValue[] } {
  const where = new Conditions();
  where.add('seq < ?', numberCursor(query.cursor));
  where.equal('principal', query.principal);
  where.equal('session', query.session);
  if (query.since !== undefined) where.add('at >= ?', query.since);
  if (query.calls) where.add('call IS NOT NULL');
  const columns = query.calls ? `${LISTED}, call` : LISTED;
  return {
    sql: `SELECT ${columns} FROM audit WHERE ${where} ORDER BY seq DESC LIMIT ?`,
    params: [...where.params, pageSize(query.limit) + 1],
  };
}

export function readAuditEntry(row: Row): AuditEntry {
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
