import { type Lease, sessionLease } from '../leases.js';
import { pageSize } from '../pages.js';
import { foldedWords } from '../search-text.js';
import type {
  Checkpoint,
  CheckpointOutcome,
  Claim,
  ClaimOutcome,
  CountedSessions,
  ListedSession,
  NewSession,
  Session,
  SessionLabels,
  SessionMode,
  SessionQuery,
  SessionStore,
} from '../sessions.js';
import { Conditions, toPage } from '../sql/paging.js';
import { number, type Row, text, whole } from '../sql/rows.js';
import {
  addLabelConditions,
  cursorOf,
  LEAVE_PLAN,
  labelStatement,
  listPosition,
  MODE_OF,
  ReadMetadata,
  readMode,
  readSession,
  SESSION_COLUMNS,
  sessionValues,
} from '../sql/sessions.js';
import type { Page } from '../store.js';
import { cancelPending } from './approvals.js';
import { checkpoint, claim, foundBy } from './checkpoint.js';
import type { Context } from './context.js';
import { insertRows, type Queries, type Value } from './database.js';
import { dropSessionRules } from './rules.js';
import { type SessionFilter, searchSessions } from './session-search.js';

export class PostgresSessions implements SessionStore {
  readonly #context: Context;
  readonly #read = new ReadMetadata();

  constructor(context: Context) {
    this.#context = context;
  }

  async create(session: NewSession): Promise<boolean> {
    const { database, notifier, now, redact } = this.#context;
    const { prompt, turnOpen } = foundBy(session.metadata ?? {});
    const values = [...sessionValues(session, now(), redact), prompt, turnOpen];
    const into = `sessions (${SESSION_COLUMNS}, prompt, turn_open)`;
    const made = await insertRows(database, into, [values], 'ON CONFLICT (id) DO NOTHING RETURNING id');
    notifier.wake();
    return made.length === 1;
  }

  async get(id: string): Promise<Session | undefined> {
    const { database, now } = this.#context;
    const row = await database.get('SELECT * FROM sessions WHERE id = ?', [id]);
    return row && readSession(row, now(), (given) => this.#read.parse(id, given));
  }

  async list(query: SessionQuery): Promise<Page<ListedSession>> {
    const { database, now } = this.#context;
    const words = foldedWords(query.search ?? '');
    const filter = filterOf(query, whole(now()), words.length > 0);
    if (words.length > 0) {
      const { limit, signal } = query;
      const { rows, next } = await searchSessions(this.#context, filter, { words, limit, signal });
      const items = rows.map(({ row, match }) => ({ ...readSession(row, now()), ...(match && { match }) }));
      return { items, ...(next !== undefined && { next: cursorOf(next) }) };
    }
    const { where, params, after } = filter;
    const sql = `SELECT * FROM sessions WHERE ${where} AND (updated_at, id) < (?, ?)
      ORDER BY updated_at DESC, id DESC LIMIT ?`;
    const rows = await database.all(sql, [...params, after.at, after.id, pageSize(query.limit) + 1]);
    const positionOf = (row: Row) => cursorOf({ at: number(row, 'updated_at'), id: text(row, 'id') });
    return toPage(rows, query.limit, (row) => readSession(row, now()), positionOf);
  }

  async count(query: CountedSessions): Promise<number> {
    const { database, now } = this.#context;
    const { where, params } = filterOf(query, whole(now()), false);
    const row = await database.get(`SELECT count(*) AS total FROM sessions WHERE ${where}`, [...params]);
    return row === undefined ? 0 : number(row, 'total');
  }

  checkpoint(id: string, lease: Lease, change: Checkpoint): Promise<CheckpointOutcome> {
    return checkpoint(this.#context, id, lease, change);
  }

  claim(id: string, by: Claim, step: (lease: Lease) => Checkpoint): Promise<ClaimOutcome> {
    return claim(this.#context, id, by, step);
  }

  async label(id: string, labels: SessionLabels): Promise<boolean> {
    const { database, notifier, now, redact } = this.#context;
    const { sql, params } = labelStatement(id, labels, whole(now()), redact);
    const labelled = (await database.run(sql, params)) === 1;
    notifier.wake();
    return labelled;
  }

  async modeOf(id: string): Promise<SessionMode | undefined> {
    return readMode(await this.#context.database.get(MODE_OF, [id]));
  }

  async leavePlan(id: string): Promise<boolean> {
    const { database, notifier } = this.#context;
    const left = (await database.run(LEAVE_PLAN, [id])) === 1;
    notifier.wake();
    return left;
  }

  async delete(id: string, by: string): Promise<boolean> {
    const { database, notifier } = this.#context;
    const deleted = await database.transaction((queries) => deleteSession(this.#context, queries, id, by));
    notifier.wake();
    return deleted;
  }
}

/** Inside a transaction. The lease goes too, so that an owner in the middle of a turn is fenced off. */
export async function deleteSession(
  context: Context,
  queries: Queries,
  id: string,
  by: string,
): Promise<boolean> {
  // The session first, as every step of it.
  await queries.run('SELECT 1 FROM sessions WHERE id = ? FOR UPDATE', [id]);
  await cancelPending(context, queries, id, { by, via: 'gateway', reason: 'The session was deleted.' });
  await dropSessionRules(queries, id);
  await queries.run('DELETE FROM leases WHERE name = ?', [sessionLease(id)]);
  return (await queries.run('DELETE FROM sessions WHERE id = ?', [id])) === 1;
}

function filterOf(
  query: CountedSessions & Pick<SessionQuery, 'cursor'>,
  now: number,
  lastingOnly: boolean,
): SessionFilter {
  const where = new Conditions<Value>();
  if (lastingOnly) where.add('expires_at > ?', now);
  where.equal('principal', query.principal);
  if (query.states !== undefined) {
    const written = query.states.filter((state) => state !== 'expired');
    const isExpired = query.states.includes('expired') ? 'expires_at <= ?' : 'false AND expires_at <= ?';
    where.add(`(${isExpired} OR state = ANY(?::text[]) AND expires_at > ?)`, now, written, now);
  }
  if (query.among !== undefined) where.add('id = ANY(?::text[])', query.among);
  if (query.except !== undefined) where.add('id <> ALL(?::text[])', query.except);
  if (query.waiting !== undefined) {
    const not = query.waiting ? '' : 'NOT ';
    where.add(`id ${not}IN (SELECT session FROM approvals WHERE state = 'pending')`);
  }
  addLabelConditions(where, query);
  if (query.turnOpen) where.add('turn_open');
  return { where: String(where), params: where.params, after: listPosition(query.cursor) };
}
