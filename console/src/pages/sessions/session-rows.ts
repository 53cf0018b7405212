/** Sessions as lines of a list: what state they are in, and forks with what they were forked from. */
import {
  SESSION_STATUSES,
  type SessionStatus,
  type SessionWire,
} from '../../../../src/server/console-api/wire/sessions.js';
import { type LiveSessions, statusOf } from '../../sessions/live-sessions.js';

export const isStatus = (value: string | null): value is SessionStatus =>
  SESSION_STATUSES.some((status) => status === value);

/** `archived`: those that people have archived; the others are without them. */
export type SessionFilter = SessionStatus | 'archived' | undefined;

/** Without sessions that have left what was asked for since the list was fetched. */
export function stillIn(
  sessions: readonly SessionWire[],
  filter: SessionFilter,
  live: LiveSessions,
): SessionWire[] {
  return sessions.filter((session) => {
    if (session.state === 'expired' || session.archived !== (filter === 'archived')) return false;
    return filter === undefined || filter === 'archived' || statusOf(session, live) === filter;
  });
}

/** Search results updated from the events; the matches stay. */
export function upToDate(
  fetched: readonly SessionWire[],
  changed: ReadonlyMap<string, SessionWire | null>,
): SessionWire[] {
  return fetched.flatMap((session) => {
    const now = changed.get(session.id);
    if (now === null) return [];
    if (now === undefined || now.updated_at < session.updated_at) return [session];
    return [{ ...now, ...(session.match && { match: session.match }) }];
  });
}

export interface SessionRow {
  session: SessionWire;
  /** Depth of the fork under the row above it. */
  depth: number;
}

/** Forks follow their parent where it is in the list; a family is sorted by its newest member. */
export function familyRows(sessions: readonly SessionWire[]): SessionRow[] {
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const children = new Map<string, SessionWire[]>();
  for (const session of sessions) {
    const { parent } = session;
    if (parent !== null && byId.has(parent) && !isAncestor(session.id, parent, byId)) {
      children.set(parent, [...(children.get(parent) ?? []), session]);
    }
  }
  const placed = new Set<string>();
  const rows: SessionRow[] = [];
  const place = (session: SessionWire, depth: number): void => {
    if (placed.has(session.id)) return;
    placed.add(session.id);
    rows.push({ session, depth });
    for (const child of children.get(session.id) ?? []) place(child, depth + 1);
  };
  for (const session of sessions) place(rootOf(session, byId), 0);
  for (const session of sessions) place(session, 0);
  return rows;
}

function rootOf(session: SessionWire, byId: ReadonlyMap<string, SessionWire>): SessionWire {
  const seen = new Set<string>();
  let root = session;
  while (root.parent !== null && !seen.has(root.id)) {
    seen.add(root.id);
    const parent = byId.get(root.parent);
    if (parent === undefined) break;
    root = parent;
  }
  return root;
}

/** Whether `id` is above `of`: a circle, which no honest list has. */
function isAncestor(id: string, of: string, byId: ReadonlyMap<string, SessionWire>): boolean {
  const seen = new Set<string>();
  let at: string | null = of;
  while (at !== null && !seen.has(at)) {
    if (at === id) return true;
    seen.add(at);
    at = byId.get(at)?.parent ?? null;
  }
  return false;
}
