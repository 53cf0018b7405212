import type { NewPushSubscription, PushSubscription } from '../push.js';
import { number, type Row, type SqlValue, text, whole } from './rows.js';

export const PUT_PUSH = `INSERT INTO push_subscriptions (id, principal, credential, endpoint, p256dh, auth, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET principal = excluded.principal, credential = excluded.credential,
    endpoint = excluded.endpoint, p256dh = excluded.p256dh, auth = excluded.auth, created_at = excluded.created_at`;

/** Those of a principal beyond the newest. */
export const TRIM_PUSH = `DELETE FROM push_subscriptions WHERE principal = ? AND id NOT IN
  (SELECT id FROM push_subscriptions WHERE principal = ? ORDER BY created_at DESC, id LIMIT ?)`;

export const LIST_PUSH = 'SELECT * FROM push_subscriptions ORDER BY created_at, id';
export const LIST_OWN_PUSH = 'SELECT * FROM push_subscriptions WHERE principal = ? ORDER BY created_at, id';

export function pushValues(subscription: NewPushSubscription, now: number): SqlValue[] {
  const { id, principal, credential, endpoint, p256dh, auth } = subscription;
  return [id, principal, credential, endpoint, p256dh, auth, whole(now)];
}

export function readPush(row: Row): PushSubscription {
  return {
    id: text(row, 'id'),
    principal: text(row, 'principal'),
    credential: text(row, 'credential'),
    endpoint: text(row, 'endpoint'),
    p256dh: text(row, 'p256dh'),
    auth: text(row, 'auth'),
    createdAt: number(row, 'created_at'),
  };
}
