import type { JsonObject } from '../../core/conversation.js';
import { share } from '../../core/shared-values.js';
import { badCursor } from '../pages.js';
import {
  type NewSession,
  SESSION_MODES,
  type Session,
  type SessionLabels,
  type SessionMode,
  type SessionQuery,
  type SessionState,
  type WritableState,
} from '../sessions.js';
import type { Conditions } from './paging.js';
import {
  number,
  optionalNumber,
  optionalText,
  type Row,
  type SqlValue,
  text,
  toJson,
  whole,
} from './rows.js';

const STATES: readonly WritableState[] = ['live', 'parked', 'hibernated'];

/** Of `sessions`, in the order of the list. */
export interface ListPosition {
  at: number;
  id: string;
}

/** Before everything: the start of the list. */
const NEWEST: ListPosition = { at: Number.MAX_SAFE_INTEGER, id: '' };

export function listPosition(cursor: string | undefined): ListPosition {
  if (cursor === undefined) return NEWEST;
  const [, at, id] = /^(\d{1,15}):(.+)$/s.exec(cursor) ?? [];
  if (at === undefined || id === undefined) throw badCursor();
  return { at: Number(at), id };
}

export function cursorOf({ at, id }: ListPosition): string {
  return `${at}:${id}`;
}

export const SESSION_COLUMNS = `id, principal, model, engine, state, title, parent, created_at, updated_at,
  expires_at, size, metadata, mode`;

export function sessionValues(
  session: NewSession,
  now: number,
  redact: (text: string) => string,
): SqlValue[] {
  const metadata = toJson(session.metadata ?? {});
  const at = whole(now);
  return [
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
    session.mode ?? null,
  ];
}

/** Columns of `SessionLabels`, which a new session has none of. */
export const LABEL_COLUMNS = 'given_title, pinned_at, archived_at, mode_before_plan';

/** As `Session.title` says. */
export const SHOWN_TITLE = 'coalesce(given_title, title) AS title';

/** The session must not have expired. */
export function labelStatement(
  id: string,
  { title, pinned, archived, mode }: SessionLabels,
  at: number,
  redact: (text: string) => string,
): { sql: string; params: SqlValue[] } {
  const sets: string[] = [];
  const params: SqlValue[] = [];
  if (title !== undefined) {
    sets.push('given_title = ?');
    params.push(title === null ? null : redact(title));
  }
  for (const [column, wanted] of [
    ['pinned_at', pinned],
    ['archived_at', archived],
  ] as const) {
    if (wanted === undefined) continue;
    // What is pinned already stays pinned since then.
    sets.push(wanted ? `${column} = coalesce(${column}, ?)` : `${column} = NULL`);
    if (wanted) params.push(at);
  }
  if (mode !== undefined) {
    // On the right side of an assignment, a column is as it was before the statement.
    if (mode === 'plan') {
      sets.push(`mode_before_plan = CASE WHEN mode = 'plan' THEN mode_before_plan ELSE mode END`);
    } else sets.push('mode_before_plan = NULL');
    sets.push('mode = ?');
    params.push(mode);
  }
  if (sets.length === 0) sets.push('id = id');
  const sql = `UPDATE sessions SET ${sets.join(', ')} WHERE id = ? AND expires_at > ?`;
  return { sql, params: [...params, id, at] };
}

export const MODE_OF = 'SELECT mode FROM sessions WHERE id = ?';

/** A copy does not know what its origin had chosen before: from then on it asks. */
export const LEAVE_PLAN = `UPDATE sessions
  SET mode = coalesce(mode_before_plan, CASE WHEN parent IS NULL THEN NULL ELSE 'ask' END), mode_before_plan = NULL
  WHERE id = ? AND mode = 'plan'`;

export function readMode(row: Row | undefined): SessionMode | undefined {
  const mode = row?.['mode'];
  return SESSION_MODES.find((known) => known === mode);
}

export function addLabelConditions<Value>(
  where: Conditions<Value>,
  { pinned, archived }: Pick<SessionQuery, 'pinned' | 'archived'>,
): void {
  if (pinned !== undefined) where.add(`pinned_at IS ${pinned ? 'NOT ' : ''}NULL`);
  if (archived !== undefined) where.add(`archived_at IS ${archived ? 'NOT ' : ''}NULL`);
}

/** Sessions whose metadata is kept as it was parsed last. */
const READ_MOST = 32;

/** A turn reads its session more than once: the same text is the same object, which nobody changes. */
export class ReadMetadata {
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

export function readSession(
  row: Row,
  now: number,
  parse: (text: string) => JsonObject = (text) => JSON.parse(text),
): Session {
  const title = optionalText(row, 'given_title') ?? optionalText(row, 'title');
  const parent = optionalText(row, 'parent');
  const pinnedAt = optionalNumber(row, 'pinned_at');
  const archivedAt = optionalNumber(row, 'archived_at');
  const mode = readMode(row);
  return {
    id: text(row, 'id'),
    principal: text(row, 'principal'),
    model: text(row, 'model'),
    engine: text(row, 'engine'),
    state: readState(row, now),
    ...(title !== undefined && { title }),
    ...(parent !== undefined && { parent }),
    ...(pinnedAt !== undefined && { pinnedAt }),
    ...(archivedAt !== undefined && { archivedAt }),
    ...(mode !== undefined && { mode }),
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

/** A session that waits for results of the client, or for a person: a condition on a row of `sessions`. */
export const SESSION_WAITS = `(
  EXISTS (SELECT 1 FROM calls WHERE calls.session = sessions.id AND calls.run_by = 'client' AND calls.recorded_at IS NULL
    AND sessions.state IN ('parked', 'hibernated'))
  OR EXISTS (SELECT 1 FROM approvals WHERE approvals.session = sessions.id AND approvals.state = 'pending'))`;

export const SESSION_STATES = 'SELECT state, count(*) AS n FROM sessions GROUP BY state';
export const APPROVALS_WAITING = `SELECT count(*) AS n FROM approvals WHERE state = 'pending'`;

export function figuresOf(states: readonly Row[]): { sessions: Record<WritableState, number> } {
  const sessions = { live: 0, parked: 0, hibernated: 0 };
  for (const row of states) {
    const state = STATES.find((each) => each === row['state']);
    if (state !== undefined) sessions[state] = number(row, 'n');
  }
  return { sessions };
}
