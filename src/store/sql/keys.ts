import { randomUUID } from 'node:crypto';
import type { NewAuditEntry } from '../audit.js';
import type { KeyGrants, KeyRotation, NewKey, StoredKey } from '../keys.js';
import {
  json,
  number,
  optionalNumber,
  optionalText,
  type Row,
  type SqlValue,
  text,
  toJson,
  whole,
} from './rows.js';

export const KEY_COLUMNS = 'id, name, digest, start, grants, created_by, created_at, expires_at';

export function keyValues(key: NewKey, by: string, now: number): SqlValue[] {
  const { name, digest, start, expiresAt, ...grants } = key;
  const ends = expiresAt === undefined ? null : whole(expiresAt);
  return [randomUUID(), name, digest, start, toJson(grants), by, whole(now), ends];
}

/** Two times `previousUntil`, then what changes. */
export function rotationValues(rotation: KeyRotation, now: number): SqlValue[] {
  const { digest, start, previousUntil, expiresAt } = rotation;
  const until = previousUntil === undefined ? null : whole(previousUntil);
  return [until, until, digest, start, whole(now), expiresAt === undefined ? null : whole(expiresAt)];
}

export function keyChanged(event: string, key: StoredKey, by: string): NewAuditEntry {
  return { event, by, principal: key.name, what: describeKey(key) };
}

function describeKey({ name, start, scopes, models, expiresAt }: StoredKey): string {
  const until = expiresAt === undefined ? 'no expiry' : `until ${new Date(expiresAt).toISOString()}`;
  return `${name} (${start}…): ${scopes.join(', ')} on ${models.join(', ')}; ${until}`;
}

export function readKey(row: Row): StoredKey {
  const expiresAt = optionalNumber(row, 'expires_at');
  const rotatedAt = optionalNumber(row, 'rotated_at');
  const revokedAt = optionalNumber(row, 'revoked_at');
  const previous = optionalText(row, 'previous_digest');
  return {
    ...json<KeyGrants>(row, 'grants'),
    id: text(row, 'id'),
    name: text(row, 'name'),
    digest: text(row, 'digest'),
    start: text(row, 'start'),
    createdBy: text(row, 'created_by'),
    createdAt: number(row, 'created_at'),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(rotatedAt !== undefined && { rotatedAt }),
    ...(previous !== undefined && { previous: { digest: previous, until: number(row, 'previous_until') } }),
    ...(revokedAt !== undefined && { revokedAt }),
  };
}
