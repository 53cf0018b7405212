/**
 * Deletes by age and by size in short transactions with a turn of the event loop between them.
 * Caps count from the newest row back, so nothing has to keep running totals.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CAPPED_ANSWERS } from '../sql/answers.js';
import { PRUNE_PINS_SQL } from '../sql/mcp.js';
import { number, optionalNumber, text } from '../sql/rows.js';
import { SESSION_WAITS } from '../sql/sessions.js';
import type { PruneReport } from '../store.js';
import type { Context } from './context.js';
import type { Params } from './database.js';
import { nextCount } from './leases.js';
import { deleteSession } from './sessions.js';

const BATCH_ROWS = 250;
const WALK_ROWS = 4000;
const VACUUM_PAGES = 128;
/** Free pages that are kept for the next writes. */
const SPARE_PAGES = 1024;

interface Cap {
  maxRows: number;
  maxBytes?: number;
}

interface CappedTable {
  table: string;
  /** Grows with age; the primary key. */
  key: string;
  /** What a row weighs. */
  size: string;
  where: string;
}

const AUDIT: CappedTable = { table: 'audit', key: 'seq', size: 'size', where: '1' };
const TRACES: CappedTable = { table: 'traces', key: 'seq', size: 'size', where: '1' };
const USAGE: CappedTable = { table: 'usage', key: 'seq', size: '0', where: '1' };
const ANSWERS: CappedTable = { table: 'answers', key: 'number', size: 'size', where: '1' };
const KEYS_ANSWERS: CappedTable = { ...ANSWERS, where: CAPPED_ANSWERS };
const QUIRKS: CappedTable = { table: 'quirks', key: 'rowid', size: '0', where: '1' };
const RUNS: CappedTable = { table: 'runs', key: 'rowid', size: '0', where: 'session IS NULL' };
const KEYS: CappedTable = { table: 'keys', key: 'number', size: '0', where: 'revoked_at IS NOT NULL' };
const OUTBOX: CappedTable = { table: 'outbox', key: 'number', size: '0', where: `state <> 'waiting'` };
const APPROVALS: CappedTable = { table: 'approvals', key: 'number', size: '0', where: `state <> 'pending'` };

export async function prune(context: Context, now: number): Promise<PruneReport> {
  const { limits } = context;
  const aged = (column: string, table: CappedTable, maxAgeMs: number) =>
    deleteRows(context, table, `${column} < ?`, [now - maxAgeMs]);
  const report = {
    ...(await pruneSessions(context, now)),
    answers:
      (await deleteExpired(context, ANSWERS, now)) +
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
      (await pruneUsage(context, now - limits.usage.budgetMs)),
    leases: await context.database.write(
      () => context.database.run('DELETE FROM leases WHERE until < ?', [now - limits.leases.maxAgeMs]),
      'relaxed',
    ),
    runs: await aged('started_at', RUNS, limits.runs.maxAgeMs),
    signIns: await pruneSignIns(context, now),
    keys: await deleteBeyond(context, KEYS, limits.keys),
    pins: await context.database.write(() => context.database.run(PRUNE_PINS_SQL), 'relaxed'),
    outbox:
      (await aged('ended_at', OUTBOX, limits.outbox.maxAgeMs)) +
      (await deleteBeyond(context, OUTBOX, limits.outbox)),
  };
  await giveSpaceBack(context);
  return report;
}

async function deleteRows(
  context: Context,
  table: CappedTable,
  where: string,
  params: Params,
): Promise<number> {
  const { database } = context;
  const sql = `DELETE FROM ${table.table} WHERE ${table.key} IN
    (SELECT ${table.key} FROM ${table.table} WHERE ${table.where} AND ${where} LIMIT ${BATCH_ROWS})`;
  let deleted = 0;
  for (;;) {
    const batch = await database.write(() => database.run(sql, params), 'relaxed');
    deleted += batch;
    if (batch < BATCH_ROWS) return deleted;
    await nextTurn();
  }
}

/** Walks over all rows: an index by expiry would be written with each of them. */
async function deleteExpired(context: Context, { table, key }: CappedTable, now: number): Promise<number> {
  const { database } = context;
  const step = `SELECT max(key) AS last FROM
    (SELECT ${key} AS key FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT ${WALK_ROWS})`;
  const sql = `DELETE FROM ${table} WHERE ${key} > ? AND ${key} <= ? AND expires_at <= ?`;
  let deleted = 0;
  for (let after = 0; ; ) {
    const from = after;
    const last = await database.read(() => optionalNumber(database.get(step, [from]) ?? {}, 'last'));
    if (last === undefined) return deleted;
    deleted += await database.write(() => database.run(sql, [from, last, now]), 'relaxed');
    after = last;
    await nextTurn();
  }
}

async function deleteBeyond(context: Context, table: CappedTable, cap: Cap): Promise<number> {
  const last = await findCut(context, table, cap);
  return last === undefined ? 0 : deleteRows(context, table, `${table.key} <= ?`, [last]);
}

/** Of the rows beyond the cap those from before `before`, found by time: `+` keeps SQLite from walking over the others. */
async function pruneUsage(context: Context, before: number): Promise<number> {
  const last = await findCut(context, USAGE, context.limits.usage);
  return last === undefined ? 0 : deleteRows(context, USAGE, 'at < ? AND +seq <= ?', [before, last]);
}

/** The newest row that is beyond the cap; it and all older ones go. */
async function findCut(context: Context, table: CappedTable, cap: Cap): Promise<number | undefined> {
  const { database } = context;
  const sql = `SELECT ${table.key} AS key, ${table.size} AS size FROM ${table.table}
    WHERE ${table.where} AND ${table.key} < ? ORDER BY ${table.key} DESC LIMIT ${WALK_ROWS}`;
  const maxBytes = cap.maxBytes ?? Number.POSITIVE_INFINITY;
  let before = Number.MAX_SAFE_INTEGER;
  let rows = 0;
  let size = 0;
  for (;;) {
    const step = await database.read(() => database.all(sql, [before]));
    for (const row of step) {
      rows += 1;
      size += number(row, 'size');
      before = number(row, 'key');
      if (rows > cap.maxRows || size > maxBytes) return before;
    }
    if (step.length < WALK_ROWS) return undefined;
    await nextTurn();
  }
}

async function pruneSessions(
  context: Context,
  now: number,
): Promise<Pick<PruneReport, 'sessions' | 'evicted'>> {
  const { database, limits } = context;
  const over = now - limits.sessions.graceMs;
  const sql = `SELECT id FROM sessions WHERE id = ? AND expires_at <= ? AND NOT EXISTS
      (SELECT 1 FROM leases WHERE name = 'session:' || sessions.id AND until > ?)`;
  const chunk = `DELETE FROM transcript WHERE rowid IN
    (SELECT rowid FROM transcript WHERE session = ? LIMIT ${BATCH_ROWS})`;
  let deleted = 0;
  const { expired, evicted } = await evictSessions(context, now, over);
  for (const id of expired) {
    const row = await database.read(() => database.get(sql, [id, over, now]));
    if (row === undefined) continue;
    // Long transcripts go piece by piece before the rest follows at once.
    while ((await database.write(() => database.run(chunk, [id]), 'relaxed')) === BATCH_ROWS)
      await nextTurn();
    if (await database.write(() => deleteSession(context, id, 'expiry'), 'relaxed')) deleted += 1;
    await nextTurn();
  }
  return { sessions: deleted, evicted };
}

/**
 * Beyond the cap the sessions unused for longest expire at once, except those under a lease and those that wait: for
 * results of the client, or for a person. Gives how many, and those
 * that have expired, now or before `over`.
 */
async function evictSessions(
  context: Context,
  now: number,
  over: number,
): Promise<{ expired: string[]; evicted: number }> {
  const { database, limits } = context;
  const walk = `SELECT id, size, updated_at, expires_at FROM sessions WHERE (updated_at, id) < (?, ?)
    ORDER BY updated_at DESC, id DESC LIMIT ${WALK_ROWS}`;
  const expire = `UPDATE sessions SET expires_at = 0 WHERE id = ? AND expires_at > 0 AND NOT ${SESSION_WAITS}
    AND NOT EXISTS (SELECT 1 FROM leases WHERE name = 'session:' || sessions.id AND until > ?)`;
  let at = Number.MAX_SAFE_INTEGER;
  let last = '';
  let rows = 0;
  let size = 0;
  const expired: string[] = [];
  let evicted = 0;
  for (;;) {
    const step = await database.read(() => database.all(walk, [at, last]));
    const beyond: string[] = [];
    for (const row of step) {
      at = number(row, 'updated_at');
      last = text(row, 'id');
      const expiresAt = number(row, 'expires_at');
      if (expiresAt > 0) {
        rows += 1;
        size += number(row, 'size');
      }
      const isBeyond = rows > limits.sessions.maxRows || size > limits.sessions.maxBytes;
      if (isBeyond) beyond.push(last);
      if (isBeyond || expiresAt <= over) expired.push(last);
    }
    if (beyond.length > 0) {
      evicted += await database.write(() => {
        let changed = 0;
        for (const id of beyond) changed += database.run(expire, [id, now]);
        return changed;
      }, 'relaxed');
    }
    if (step.length < WALK_ROWS) return { expired, evicted };
    await nextTurn();
  }
}

/** Rules of a session go with it; those of sessions that were never stored go by age. */
function pruneRules(context: Context, now: number): Promise<number> {
  const { database, limits } = context;
  const sql = `DELETE FROM rules WHERE scope IN ('once', 'session') AND created_at < ?
    AND session NOT IN (SELECT id FROM sessions)`;
  return database.write(() => {
    const deleted = database.run(sql, [now - limits.rules.maxAgeMs]);
    if (deleted > 0) nextCount(database, 'rules');
    return deleted;
  }, 'relaxed');
}

/** Beyond the cap those unused for longest. */
function pruneSignIns({ database, limits }: Context, now: number): Promise<number> {
  const sql = `DELETE FROM sign_ins WHERE expires_at <= ? OR id NOT IN
    (SELECT id FROM sign_ins ORDER BY expires_at DESC, rowid DESC LIMIT ?)`;
  return database.write(() => database.run(sql, [now, limits.signIns.maxRows]), 'relaxed');
}

async function giveSpaceBack({ database }: Context): Promise<void> {
  const free = () => number(database.get('PRAGMA freelist_count') ?? {}, 'freelist_count');
  let pages = await database.read(free);
  while (pages > SPARE_PAGES) {
    await database.write(() => database.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`), 'relaxed');
    await nextTurn();
    const left = await database.read(free);
    if (left >= pages) break;
    pages = left;
  }
}
