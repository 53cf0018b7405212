import type { JsonObject } from '../../core/conversation.js';
import { share } from '../../core/shared-values.js';
import { type Lease, sessionLease } from '../leases.js';
import { foldedWords } from '../search-text.js';
import type {
  Checkpoint,
  CheckpointOutcome,
  Claim,
  ClaimOutcome,
  ListedSession,
  NewSession,
  Session,
  SessionQuery,
  SessionState,
  SessionStore,
  WritableState,
} from '../sessions.js';
import type { Page } from '../store.js';
import { cancelPending } from './approvals.js';
import { checkpoint, claim } from './checkpoint.js';
import type { Context } from './context.js';
import { badCursor, Conditions, pageSize, toPage } from './paging.js';
import { number, optionalText, type Row, text, toJson, whole } from './rows.js';
import { dropSessionRules } from './rules.js';
import { type ListPosition, type SessionFilter, searchSessions } from './session-search.js';

const STATES: readonly WritableState[] = ['live', 'parked', 'hibernated'];

export class SqliteSessions implements SessionStore {
  readonly #context: Context;
  readonly #read = new ReadMetadata();

  constructor(context: Context) {
    this.#context = context;
  }

  create(session: NewSession): Promise<boolean> {
    const { database, now, redact } = this.#context;
    const at = whole(now());
    return database.write(() => {
      const metadata = toJson(session.metadata ?? {});
      const sql = `INSERT INTO sessions
          (id, principal, model, engine, state, title, parent, created_at, updated_at, expires_at, size, metadata)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
      const changes = database.run(sql, [
        session.id,
        session.principal,
        session.model,
        session.engine,
        session.state,
        session.title === undefined ? null : redact(session.title),
        session.parent ?? null,
        at,
        at,
        whole(session.expiresAt),
        metadata.length,
        metadata,
      ]);
      return changes === 1;
    });
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
      return { items, ...(next !== undefined && { next: `${next.at}:${next.id}` }) };
    }
    const { where, params, after } = filter;
    const sql = `SELECT * FROM sessions WHERE ${where} AND (updated_at, id) < (?, ?)
      ORDER BY updated_at DESC, id DESC LIMIT ?`;
    const all = [...params, after.at, after.id, pageSize(query.limit) + 1];
    const rows = await database.read(() => database.all(sql, all));
    const cursorOf = (row: Row) => `${number(row, 'updated_at')}:${text(row, 'id')}`;
    return toPage(rows, query.limit, (row) => readSession(row, now()), cursorOf);
  }

  checkpoint(id: string, lease: Lease, change: Checkpoint): Promise<CheckpointOutcome> {
    return checkpoint(this.#context, id, lease, change);
  }

  claim(id: string, by: Claim, step: (lease: Lease) => Checkpoint): Promise<ClaimOutcome> {
    return claim(this.#context, id, by, step);
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

/** Before everything: the start of the list. */
const NEWEST: ListPosition = { at: Number.MAX_SAFE_INTEGER, id: '' };

function filterOf(query: SessionQuery, now: number, lastingOnly: boolean): SessionFilter {
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
  if (query.turnOpen) {
    where.add(
      `json_extract(metadata, '$.turn') IS NOT NULL AND json_extract(metadata, '$.turn.stopped') IS NOT 1`,
    );
  }
  return {
    where: String(where),
    params: where.params,
    after: query.cursor === undefined ? NEWEST : readCursor(query.cursor),
  };
}

function readCursor(cursor: string): ListPosition {
  const [, at, id] = /^(\d{1,15}):(.+)$/s.exec(cursor) ?? [];
  if (at === undefined || id === undefined) throw badCursor();
  return { at: Number(at), id };
}

/** Sessions whose metadata is kept as it was parsed last. */
const READ_MOST = 32;

/** A turn reads its session more than once: the same text is the same object, which nobody changes. */
class ReadMetadata {
  /** The one that was read longest ago first. */
  readonly #known = new Map<string, { text: string; metadata: JsonObject }>();

  parse(id: string, text: string): JsonObject {
    const before = this.#known.get(id);
    if (before?.text === text) return before.metadata;
    const metadata: JsonObject = JSON.parse(text);
    this.#known.delete(id);
    this.#known.set(id, { text, metadata: share(metadata) });
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > READ_MOST) this.#known.delete(oldest);
    return metadata;
  }
}

function readSession(
  row: Row,
  now: number,
  parse: (text: string) => JsonObject = (text) => JSON.parse(text),
): Session {
  const title = optionalText(row, 'title');
  const parent = optionalText(row, 'parent');
  return {
    id: text(row, 'id'),
    principal: text(row, 'principal'),
    model: text(row, 'model'),
    engine: text(row, 'engine'),
    state: readState(row, now),
    ...(title !== undefined && { title }),
    ...(parent !== undefined && { parent }),
    createdAt: number(row, 'created_at'),
    updatedAt: number(row, 'updated_at'),
    expiresAt: number(row, 'expires_at'),
    metadata: parse(text(row, 'metadata')),
  };
}

function readState(row: Row, now: number): SessionState {
  if (number(row, 'expires_at') <= now) return 'expired';
  return STATES.find((state) => state === row['state']) ?? 'hibernated';
}
