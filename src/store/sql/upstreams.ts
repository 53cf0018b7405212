import { randomUUID } from 'node:crypto';
import type { NewAuditEntry } from '../audit.js';
import type { NewUpstream, StoredUpstream } from '../upstreams.js';
import { json, number, type Row, type SqlValue, text, toJson, whole } from './rows.js';

export const ADD_UPSTREAM = `INSERT INTO upstreams (id, name, settings, created_by, created_at)
  VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING RETURNING *`;
export const LIST_UPSTREAMS = 'SELECT * FROM upstreams ORDER BY number';
export const REMOVE_UPSTREAM = 'DELETE FROM upstreams WHERE name = ? RETURNING *';

export function upstreamValues({ name, ...settings }: NewUpstream, by: string, now: number): SqlValue[] {
  return [randomUUID(), name, toJson(settings), by, whole(now)];
}

export function readUpstream(row: Row): StoredUpstream {
  return {
    ...json<Omit<NewUpstream, 'name'>>(row, 'settings'),
    name: text(row, 'name'),
    createdBy: text(row, 'created_by'),
    createdAt: number(row, 'created_at'),
  };
}

export function upstreamChanged(event: string, upstream: StoredUpstream, by: string): NewAuditEntry {
  const { name, dialect, baseUrl, models } = upstream;
  return { event, by, principal: by, what: `${name}: ${dialect} at ${baseUrl}, ${models.length} models` };
}
