import type { Delivery, DeliveryResult, DeliveryState, NewDelivery, TargetFigures } from '../outbox.js';
import {
  json,
  number,
  optionalJson,
  optionalNumber,
  optionalText,
  type Row,
  type SqlValue,
  text,
  toJson,
  whole,
} from './rows.js';

const ENDED: readonly DeliveryState[] = ['sent', 'failed', 'dropped'];
const LONGEST_ERROR = 500;

export const DELIVERY_COLUMNS =
  'id, target, event, subject, principal, state, attempts, created_at, due_at, payload';

export function deliveryValues(delivery: NewDelivery, now: number): SqlValue[] {
  const { id, target, event, subject, principal, payload, dueAt = now } = delivery;
  return [id, target, event, subject, principal, 'waiting', 0, whole(now), whole(dueAt), toJson(payload)];
}

/** An earlier message about the same subject goes first. Of the row `outbox`. */
export const IS_NEXT = `NOT EXISTS (SELECT 1 FROM outbox AS earlier
  WHERE earlier.subject = outbox.subject AND earlier.target = outbox.target
    AND earlier.number < outbox.number AND earlier.state = 'waiting')`;

export const SETTLE = `UPDATE outbox SET state = ?, due_at = coalesce(?, due_at), ended_at = ?, error = ?,
    reference = ?, claimed_by = NULL, claimed_until = 0
  WHERE id = ? AND claimed_by = ? AND state = 'waiting'`;

export function settleValues(
  id: string,
  owner: string,
  result: DeliveryResult,
  { now, redact }: { now: () => number; redact: (text: string) => string },
): SqlValue[] {
  const dueAt = result.state === 'waiting' ? whole(result.dueAt) : null;
  const endedAt = result.state === 'waiting' ? null : whole(now());
  const error = 'error' in result ? redact(result.error).slice(0, LONGEST_ERROR) : null;
  const reference = 'reference' in result ? toJson(result.reference) : null;
  return [result.state, dueAt, endedAt, error, reference, id, owner];
}

export const UNENDED = `SELECT subject FROM outbox GROUP BY subject
  HAVING min(event) = ? AND max(event) = ? ORDER BY min(number) LIMIT ?`;

export const CLAIMANTS = `SELECT DISTINCT claimed_by FROM outbox WHERE state = 'waiting' AND claimed_by IS NOT NULL`;

export const RELEASE = `UPDATE outbox SET claimed_by = NULL, claimed_until = 0
  WHERE claimed_by = ? AND state = 'waiting'`;

/** One row a target, with what its newest attempt came to. */
export const TARGETS = `SELECT target,
    sum(CASE WHEN state = 'waiting' THEN 1 ELSE 0 END) AS waiting,
    sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS failed,
    max(CASE WHEN state = 'sent' THEN ended_at END) AS last_sent_at
  FROM outbox GROUP BY target ORDER BY target`;

/** The newest message of a target that was tried. */
export const LAST_TRIED = `SELECT state, error, attempts FROM outbox
  WHERE target = ? AND attempts > 0 AND (state IN ('sent', 'failed') OR error IS NOT NULL)
  ORDER BY coalesce(ended_at, due_at) DESC, number DESC LIMIT 1`;

export function readTarget(row: Row, last: Row | undefined): TargetFigures {
  const lastSentAt = optionalNumber(row, 'last_sent_at');
  const error = last && last['state'] !== 'sent' ? optionalText(last, 'error') : undefined;
  return {
    target: text(row, 'target'),
    waiting: number(row, 'waiting'),
    failed: number(row, 'failed'),
    ...(lastSentAt !== undefined && { lastSentAt }),
    ...(error !== undefined && last && { failing: { error, attempts: number(last, 'attempts') } }),
  };
}

export function readDelivery(row: Row): Delivery {
  const endedAt = optionalNumber(row, 'ended_at');
  const error = optionalText(row, 'error');
  const reference = optionalJson<unknown>(row, 'reference');
  return {
    id: text(row, 'id'),
    target: text(row, 'target'),
    event: text(row, 'event'),
    subject: text(row, 'subject'),
    principal: text(row, 'principal'),
    payload: json<unknown>(row, 'payload'),
    dueAt: number(row, 'due_at'),
    state: ENDED.find((state) => state === row['state']) ?? 'waiting',
    attempts: number(row, 'attempts'),
    createdAt: number(row, 'created_at'),
    ...(endedAt !== undefined && { endedAt }),
    ...(error !== undefined && { error }),
    ...(reference !== undefined && { reference }),
  };
}
