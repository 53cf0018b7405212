import type { RecordedAnswer } from '../answers.js';
import { json, number, optionalText, type Row, text } from './rows.js';

/**
 * Those that a cap counts and deletes: all but the gateway's own, which say whose something is. Where there
 * are no keys, whoever asks has the empty name as well.
 */
export const CAPPED_ANSWERS = "NOT (principal = '' AND key LIKE 'response:%:upstream')";

export function readAnswer(row: Row): RecordedAnswer {
  const session = optionalText(row, 'session');
  return {
    principal: text(row, 'principal'),
    key: text(row, 'key'),
    digest: text(row, 'digest'),
    ...(session !== undefined && { session }),
    body: json<unknown>(row, 'body'),
    createdAt: number(row, 'created_at'),
    expiresAt: number(row, 'expires_at'),
  };
}
