/** The columns that move from one store to another, and how a record of them is read. */
import { GatewayError } from '../../core/errors.js';
import type { TransferKind, TransferPage, TransferRecord, TransferRow } from '../transfer.js';
import { number, type Row } from './rows.js';
import { LABEL_COLUMNS, SESSION_COLUMNS } from './sessions.js';

const words = (columns: string): string[] => columns.split(',').map((column) => column.trim());

/** By table. Numbers by which a store orders its own rows do not move. */
const TRANSFER_COLUMNS = {
  keys: words(
    'id, name, digest, start, grants, created_by, created_at, expires_at, rotated_at, previous_digest, previous_until, revoked_at',
  ),
  rules: words('id, rule, behaviour, scope, session, project, created_by, created_at'),
  sessions: words(`${SESSION_COLUMNS}, ${LABEL_COLUMNS}`),
  transcript: words('session, channel, seq, uuid, at, meta, message'),
  history: words('principal, hash, session, position'),
  calls: words(
    'session, id, name, run_by, opened_at, recorded_at, recorded_by, used_at, result_digest, input, result',
  ),
  answers: words('principal, key, digest, session, created_at, expires_at, size, body'),
  usage: words(
    'at, principal, model, upstream, session, status, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, latency_ms, first_token_ms, team',
  ),
} as const satisfies Record<string, readonly string[]>;

export type TransferTable = keyof typeof TRANSFER_COLUMNS;

/** What belongs to a session, in the order that it is read in. */
export const SESSION_PARTS = ['transcript', 'history', 'calls', 'answers'] as const;
const PART_ORDER = {
  transcript: 'channel, seq',
  history: 'position, hash',
  calls: 'number',
  answers: 'number',
};

export const partSql = (table: (typeof SESSION_PARTS)[number]): string =>
  `SELECT ${columnsOf(table)} FROM ${table} WHERE session = ? ORDER BY ${PART_ORDER[table]}`;

export const TABLE_OF: Record<TransferKind, TransferTable> = {
  key: 'keys',
  rule: 'rules',
  session: 'sessions',
  answer: 'answers',
  usage: 'usage',
};

/** What an older version did not write. */
const MISSING: Partial<Record<TransferTable, TransferRow>> = {
  usage: { team: '' },
  sessions: { mode: null, mode_before_plan: null },
};

/** Values in the order of the columns. Throws `invalid_request` where one is missing or no value of a row. */
export function transferValues(table: TransferTable, row: TransferRow): (string | number | null)[] {
  return TRANSFER_COLUMNS[table].map((column) => {
    const from = Object.hasOwn(row, column) ? row : MISSING[table];
    const value: unknown = from?.[column];
    if (typeof value === 'string' || typeof value === 'number' || value === null) return value;
    throw new GatewayError(
      'invalid_request',
      `A row of ${table} has no ${column}, or no value that fits it.`,
    );
  });
}

export const PAGE_ROWS = 500;

/** Answers of sessions go with them. */
const WHERE: Partial<Record<TransferKind, string>> = { answer: 'session IS NULL' };

const columnsOf = (table: TransferTable): string => TRANSFER_COLUMNS[table].join(', ');

export const countSql = (kind: TransferKind): string =>
  `SELECT count(*) AS n FROM ${TABLE_OF[kind]} WHERE ${WHERE[kind] ?? 'true'}`;

/** A page of a kind whose rows have a number, behind that number. */
export const numberedSql = (kind: TransferKind): string =>
  `SELECT number, ${columnsOf(TABLE_OF[kind])} FROM ${TABLE_OF[kind]}
   WHERE ${WHERE[kind] ?? 'true'} AND number > ? ORDER BY number LIMIT ${PAGE_ROWS}`;

export const NEXT_SESSION = `SELECT ${columnsOf('sessions')} FROM sessions WHERE id > ? ORDER BY id LIMIT 1`;

/** By time, so that equal rows stand together and can be counted. */
export const USAGE_AFTER = `SELECT ${columnsOf('usage')} FROM usage WHERE at > ? ORDER BY at, seq LIMIT ${PAGE_ROWS}`;
export const USAGE_AT = `SELECT ${columnsOf('usage')} FROM usage WHERE at = ? ORDER BY seq`;

export function numberedPage(kind: TransferKind, rows: readonly Row[]): TransferPage {
  const last = rows.at(-1);
  return {
    records: rows.map((row) => ({ kind, row: transferRow(TABLE_OF[kind], row) })),
    ...(rows.length === PAGE_ROWS && last !== undefined && { next: String(number(last, 'number')) }),
  };
}

export function usagePage(rows: readonly Row[]): TransferPage {
  const seen = new Map<string, number>();
  const records = rows.map((found): TransferRecord => {
    const row = transferRow('usage', found);
    const key = JSON.stringify(row);
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return { kind: 'usage', row, ...(nth > 1 && { nth }) };
  });
  const last = rows.at(-1);
  return {
    records,
    ...(rows.length >= PAGE_ROWS && last !== undefined && { next: String(number(last, 'at')) }),
  };
}

export function transferRow(table: TransferTable, row: Row): TransferRow {
  return Object.fromEntries(
    TRANSFER_COLUMNS[table].map((column) => {
      const value = row[column];
      if (typeof value === 'string' || typeof value === 'number' || value === null) return [column, value];
      throw new TypeError(`The column ${column} of ${table} cannot be moved.`);
    }),
  );
}

export const insertSql = (table: TransferTable, more: readonly string[] = []): string => {
  const columns = [...TRANSFER_COLUMNS[table], ...more];
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
};

export const equalUsage = (is: string): string =>
  `SELECT count(*) AS n FROM usage WHERE ${TRANSFER_COLUMNS.usage.map((column) => `${column} ${is} ?`).join(' AND ')}`;
