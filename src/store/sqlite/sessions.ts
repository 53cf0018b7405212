import type { JsonObject } from '../../core/conversation.js';
import { type Lease, sessionLease } from '../leases.js';
import type {
  Checkpoint,
  CheckpointOutcome,
  NewSession,
  Session,
  SessionQuery,
  SessionState,
  SessionStore,
  WritableState,
} from '../sessions.js';
import type { Page } from '../store.js';
import { cancelPending } from './approvals.js';
import { checkpoint } from './checkpoint.js';
import type { Context } from './context.js';
import { badCursor, Conditions, pageSize, toPage } from './paging.js';
import { json, number, optionalText, type Row, text, toJson, whole } from './rows.js';
import { dropSessionRules } from './rules.js';

const STATES: readonly WritableState[] = ['live', 'parked', 'hibernated'];

export class SqliteSessions implements SessionStore {
  readonly #context: Context;

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
      return row && readSession(row, now());
    });
  }

  async list(query: SessionQuery): Promise<Page<Session>> {
    const { database, now } = this.#context;
    const where = new Conditions();
    where.equal('principal', query.principal);
    if (query.state === 'expired') where.add('expires_at <= ?', now());
    else if (query.state !== undefined) where.add('state = ? AND expires_at > ?', query.state, now());
    if (query.search !== undefined) {
      const pattern = `%${query.search.replace(/[\\%_]/g, '\\$&')}%`;
      where.add(
        `(title LIKE ? ESCAPE '\\' OR model LIKE ? ESCAPE '\\' OR id LIKE ? ESCAPE '\\')`,
        pattern,
        pattern,
        pattern,
      );
    }
    if (query.cursor !== undefined) {
      const parts = /^(\d{1,15}):(.+)$/s.exec(query.cursor);
      if (parts?.[1] === undefined || parts[2] === undefined) throw badCursor();
      where.add('(updated_at, id) < (?, ?)', Number(parts[1]), parts[2]);
    }
    const sql = `SELECT * FROM sessions WHERE ${where} ORDER BY updated_at DESC, id DESC LIMIT ?`;
    const rows = await database.read(() => database.all(sql, [...where.params, pageSize(query.limit) + 1]));
    const cursorOf = (row: Row) => `${number(row, 'updated_at')}:${text(row, 'id')}`;
    return toPage(rows, query.limit, (row) => readSession(row, now()), cursorOf);
  }

  checkpoint(id: string, lease: Lease, change: Checkpoint): Promise<CheckpointOutcome> {
    return checkpoint(this.#context, id, lease, change);
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

function readSession(row: Row, now: number): Session {
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
    metadata: json<JsonObject>(row, 'metadata'),
  };
}

function readState(row: Row, now: number): SessionState {
  if (number(row, 'expires_at') <= now) return 'expired';
  return STATES.find((state) => state === row['state']) ?? 'hibernated';
}
