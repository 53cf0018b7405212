/** Deletes by age and by size, some hundred rows a transaction, so that nobody waits for long. */
import { CAPPED_ANSWERS } from '../sql/answers.js';
import { PRUNE_PINS_SQL } from '../sql/mcp.js';
import { text, whole } from '../sql/rows.js';
import { SESSION_WAITS } from '../sql/sessions.js';
import type { PruneReport } from '../store.js';
import type { Context } from './context.js';
import type { Params } from './database.js';
import { LEASE_NOW } from './leases.js';
import { countChange } from './rules.js';
import { deleteSession } from './sessions.js';

const BATCH_ROWS = 500;

interface Cap {
  maxRows: number;
  maxBytes?: number;
}

interface CappedTable {
  table: string;
  /** Grows with age, and is unique. */
  key: string;
  where: string;
}

const AUDIT: CappedTable = { table: 'audit', key: 'seq', where: 'true' };
const TRACES: CappedTable = { table: 'traces', key: 'seq', where: 'true' };
const USAGE: CappedTable = { table: 'usage', key: 'seq', where: 'true' };
const ANSWERS: CappedTable = { table: 'answers', key: 'number', where: 'true' };
const KEYS_ANSWERS: CappedTable = { ...ANSWERS, where: CAPPED_ANSWERS };
const QUIRKS: CappedTable = { table: 'quirks', key: 'number', where: 'true' };
const RUNS: CappedTable = { table: 'runs', key: 'number', where: 'session IS NULL' };
const KEYS: CappedTable = { table: 'keys', key: 'number', where: 'revoked_at IS NOT NULL' };
const OUTBOX: CappedTable = { table: 'outbox', key: 'number', where: `state <> 'waiting'` };
const CHANGES: CappedTable = { table: 'changes', key: 'seq', where: 'true' };
const APPROVALS: CappedTable = { table: 'approvals', key: 'number', where: `state <> 'pending'` };

export async function prune(context: Context, now: number): Promise<PruneReport> {
  const { limits } = context;
  const aged = (column: string, table: CappedTable, maxAgeMs: number) =>
    deleteRows(context, table, `${column} < ?`, [whole(now - maxAgeMs)]);
  await deleteRows(context, CHANGES, `at < ${LEASE_NOW} - ?::bigint`, [null, limits.changes.maxAgeMs]);
  await deleteBeyond(context, CHANGES, limits.changes);
  return {
    ...(await pruneSessions(context, now)),
    answers:
      (await deleteRows(context, ANSWERS, 'expires_at <= ?', [whole(now)])) +
      (await deleteBeyond(context, KEYS_ANSWERS, limits.answers)),
    approvals:
      (await aged('decided_at', APPROVALS, limits.approvals.maxAgeMs)) +
      (await deleteBeyond(context, APPROVALS, limits.approvals)),
    rules: await pruneRules(context, now),
    audit:
      (await aged('at', AUDIT, limits.audit.maxAgeMs)) + (await deleteBeyond(context, AUDIT, limits.audit)),
    traces:
      (await aged('at', TRACES, limits.traces.maxAgeMs)) +
      (await deleteBeyond(context, TRACES, limits.traces)),
    quirks:
      (await aged('learned_at', QUIRKS, limits.quirks.maxAgeMs)) +
      (await deleteBeyond(context, QUIRKS, limits.quirks)),
    usage:
      (await aged('at', USAGE, limits.usage.maxAgeMs)) +
      (await deleteBeyond(context, USAGE, limits.usage, {
        sql: 'at < ?',
        params: [whole(now - limits.usage.budgetMs)],
      })),
    leases: await context.database.run(`DELETE FROM leases WHERE until < ${LEASE_NOW} - ?::bigint`, [
      context.leaseNow(),
      limits.leases.maxAgeMs,
    ]),
    runs: await aged('started_at', RUNS, limits.runs.maxAgeMs),
    keys: await deleteBeyond(context, KEYS, limits.keys),
    outbox:
      (await aged('ended_at', OUTBOX, limits.outbox.maxAgeMs)) +
      (await deleteBeyond(context, OUTBOX, limits.outbox)),
    signIns: await pruneSignIns(context, now),
    pins: await context.database.run(PRUNE_PINS_SQL),
  };
}

/** Rows that another node deletes just now are left to it. */
async function deleteRows(
  { database }: Context,
  { table, key, where }: CappedTable,
  which: string,
  params: Params,
): Promise<number> {
  const sql = `DELETE FROM ${table} WHERE ${key} = ANY(ARRAY(
    SELECT ${key} FROM ${table} WHERE ${where} AND ${which} LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED))`;
  for (let deleted = 0; ; ) {
    const batch = await database.transaction((queries) => queries.run(sql, params), 'relaxed');
    deleted += batch;
    if (batch < BATCH_ROWS) return deleted;
  }
}

/** The newest row that is beyond the cap, and all older ones; of these, those that `only` says. */
async function deleteBeyond(
  context: Context,
  table: CappedTable,
  cap: Cap,
  only: { sql: string; params: Params } = { sql: 'true', params: [] },
): Promise<number> {
  const { database } = context;
  const { maxRows, maxBytes } = cap;
  const from = `FROM ${table.table} WHERE ${table.where}`;
  const byRows = `SELECT ${table.key} AS key ${from} ORDER BY ${table.key} DESC OFFSET ? LIMIT 1`;
  const bySize = `SELECT max(key) AS key FROM (
      SELECT ${table.key} AS key, sum(size) OVER (ORDER BY ${table.key} DESC ROWS UNBOUNDED PRECEDING) AS total ${from}
    ) AS added WHERE total > ?`;
  const found = [
    await database.get(byRows, [maxRows]),
    ...(maxBytes === undefined ? [] : [await database.get(bySize, [maxBytes])]),
  ];
  const keys = found.map((row) => row?.['key']).filter((key) => typeof key === 'number');
  if (keys.length === 0) return 0;
  const which = `${only.sql} AND ${table.key} <= ?`;
  return deleteRows(context, table, which, [...only.params, Math.max(...keys)]);
}

const UNLEASED = `NOT EXISTS
  (SELECT 1 FROM leases WHERE leases.name = 'session:' || sessions.id AND leases.until > ${LEASE_NOW})`;

async function pruneSessions(
  context: Context,
  now: number,
): Promise<Pick<PruneReport, 'sessions' | 'evicted'>> {
  const { database, limits, leaseNow } = context;
  const over = whole(now - limits.sessions.graceMs);
  const due = `SELECT id FROM sessions WHERE id = ? AND expires_at <= ? AND ${UNLEASED}`;
  const chunk = `DELETE FROM transcript WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM transcript WHERE session = ? LIMIT ${BATCH_ROWS}))`;
  let deleted = 0;
  const { expired, evicted } = await evictSessions(context, over);
  for (const id of expired) {
    if ((await database.get(due, [id, over, leaseNow()])) === undefined) continue;
    // Long transcripts go piece by piece before the rest follows at once.
    while ((await database.run(chunk, [id])) === BATCH_ROWS);
    const gone = await database.transaction(
      (queries) => deleteSession(context, queries, id, 'expiry'),
      'relaxed',
    );
    if (gone) deleted += 1;
  }
  return { sessions: deleted, evicted };
}

/**
 * Beyond the cap the sessions unused for longest expire at once, except those under a lease and those that wait: for
 * results of the client, or for a person. Gives how many, and those
 * that have expired, now or before `over`.
 */
async function evictSessions(
  { database, limits, leaseNow }: Context,
  over: number,
): Promise<{ expired: string[]; evicted: number }> {
  const { maxRows, maxBytes } = limits.sessions;
  const sql = `SELECT id, beyond FROM (
      SELECT id, expires_at, (count(*) FILTER (WHERE expires_at > 0) OVER used > ?
        OR coalesce(sum(size) FILTER (WHERE expires_at > 0) OVER used, 0) > ?) AS beyond
      FROM sessions WINDOW used AS (ORDER BY updated_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
    ) AS counted WHERE beyond OR expires_at <= ?`;
  const rows = await database.all(sql, [maxRows, maxBytes, over]);
  const beyond = rows.filter((row) => row['beyond'] === true).map((row) => text(row, 'id'));
  let evicted = 0;
  if (beyond.length > 0) {
    const expire = `UPDATE sessions SET expires_at = 0 WHERE id = ANY(?::text[]) AND expires_at > 0
      AND NOT ${SESSION_WAITS} AND ${UNLEASED}`;
    evicted = await database.run(expire, [beyond, leaseNow()]);
  }
  return { expired: rows.map((row) => text(row, 'id')), evicted };
}

/** Rules of a session go with it; those of sessions that were never stored go by age. */
function pruneRules({ database, limits }: Context, now: number): Promise<number> {
  const sql = `DELETE FROM rules WHERE scope IN ('once', 'session') AND created_at < ?
    AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = rules.session)`;
  return database.transaction(async (queries) => {
    const deleted = await queries.run(sql, [whole(now - limits.rules.maxAgeMs)]);
    if (deleted > 0) await countChange(queries, 'rules');
    return deleted;
  }, 'relaxed');
}

/** Beyond the cap those unused for longest. */
function pruneSignIns({ database, limits }: Context, now: number): Promise<number> {
  const sql = `DELETE FROM sign_ins WHERE expires_at <= ? OR id IN
    (SELECT id FROM sign_ins ORDER BY expires_at DESC, number DESC OFFSET ?)`;
  return database.run(sql, [whole(now), limits.signIns.maxRows]);
}
