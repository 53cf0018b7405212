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
import { checkpoint, claim } from './checkpoint.js';
import type { Context } from './context.js';
import { dropSessionRules } from './rules.js';
import { type SessionFilter, searchSessions } from './session-search.js';

export class SqliteSessions implements SessionStore {
  readonly #context: Context;
  readonly #read = new ReadMetadata();

  constructor(context: Context) {
    this.#context = context;
  }

  create(session: NewSession): Promise<boolean> {
    const { database, now, redact } = this.#context;
    const values = sessionValues(session, now(), redact);
    const sql = `INSERT INTO sessions (${SESSION_COLUMNS})
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
    return database.write(() => database.run(sql, values) === 1);
  }

  get(id: string): Promise<Session | undefined> {
    const { database, now } = this.#context;
    return database.read(() => {
      const row = database.get('SELECT * FROM sessions WHERE id = ?', [id]);
      return row && readSession(row, now(), (text) => this.#read.parse(id, text));
    });
  }

  async list(query: SessionQuery): Promise<Page<ListedSession>> {
    const { database, now } = this.#context;
    const words = foldedWords(query.search ?? '');
    const filter = filterOf(query, now(), words.length > 0);
    if (words.length > 0) {
      const { limit, signal } = query;
      const { rows, next } = await searchSessions(this.#context, filter, { words, limit, signal });
      const items = rows.map(({ row, match }) => ({ ...readSession(row, now()), ...(match && { match }) }));
      return { items, ...(next !== undefined && { next: cursorOf(next) }) };
    }
    const { where, params, after } = filter;
    const sql = `SELECT * FROM sessions WHERE ${where} AND (updated_at, id) < (?, ?)
      ORDER BY updated_at DESC, id DESC LIMIT ?`;
    const all = [...params, after.at, after.id, pageSize(query.limit) + 1];
    const rows = await database.read(() => database.all(sql, all));
    const positionOf = (row: Row) => cursorOf({ at: number(row, 'updated_at'), id: text(row, 'id') });
    return toPage(rows, query.limit, (row) => readSession(row, now()), positionOf);
  }

  async count(query: CountedSessions): Promise<number> {
    const { database, now } = this.#context;
    const { where, params } = filterOf(query, now(), false);
    const row = await database.read(() =>
      database.get(`SELECT count(*) AS total FROM sessions WHERE ${where}`, [...params]),
    );
    return row === undefined ? 0 : number(row, 'total');
  }

  checkpoint(id: string, lease: Lease, change: Checkpoint): Promise<CheckpointOutcome> {
    return checkpoint(this.#context, id, lease, change);
  }

  claim(id: string, by: Claim, step: (lease: Lease) => Checkpoint): Promise<ClaimOutcome> {
    return claim(this.#context, id, by, step);
  }

  label(id: string, labels: SessionLabels): Promise<boolean> {
    const { database, now, redact } = this.#context;
    const { sql, params } = labelStatement(id, labels, whole(now()), redact);
    return database.write(() => database.run(sql, params) === 1);
  }

  async modeOf(id: string): Promise<SessionMode | undefined> {
    const { database } = this.#context;
    return readMode(await database.read(() => database.get(MODE_OF, [id])));
  }

  leavePlan(id: string): Promise<boolean> {
    const { database } = this.#context;
    return database.write(() => database.run(LEAVE_PLAN, [id]) === 1);
  }

  delete(id: string, by: string): Promise<boolean> {
    return this.#context.database.write(() => deleteSession(this.#context, id, by));
  }
}

/** Inside a transaction. The lease goes too, so that an owner in the middle of a turn is fenced off. */
export function deleteSession(context: Context, id: string, by: string): boolean {
  const { database } = context;
  cancelPending(context, id, { by, via: 'gateway', reason: 'The session was deleted.' });
  dropSessionRules(database, id);
  database.run('DELETE FROM leases WHERE name = ?', [sessionLease(id)]);
  return database.run('DELETE FROM sessions WHERE id = ?', [id]) === 1;
}

function filterOf(
  query: CountedSessions & Pick<SessionQuery, 'cursor'>,
  now: number,
  lastingOnly: boolean,
): SessionFilter {
  const where = new Conditions();
  if (lastingOnly) where.add('expires_at > ?', now);
  where.equal('principal', query.principal);
  if (query.states !== undefined) {
    const written = query.states.filter((state) => state !== 'expired');
    const isExpired = query.states.includes('expired') ? 'expires_at <= ?' : '0 AND expires_at <= ?';
    const isWritten = 'state IN (SELECT value FROM json_each(?)) AND expires_at > ?';
    where.add(`(${isExpired} OR ${isWritten})`, now, JSON.stringify(written), now);
  }
  const listed = 'IN (SELECT value FROM json_each(?))';
  if (query.among !== undefined) where.add(`id ${listed}`, JSON.stringify(query.among));
  if (query.except !== undefined) where.add(`id NOT ${listed}`, JSON.stringify(query.except));
  if (query.waiting !== undefined) {
    const not = query.waiting ? '' : 'NOT ';
    where.add(`id ${not}IN (SELECT session FROM approvals WHERE state = 'pending')`);
  }
  addLabelConditions(where, query);
  if (query.turnOpen) {
    where.add(
      `json_extract(metadata, '$.turn') IS NOT NULL AND json_extract(metadata, '$.turn.stopped') IS NOT 1`,
    );
  }
  return {
    where: String(where),
    params: where.params,
    after: listPosition(query.cursor),
  };
}
