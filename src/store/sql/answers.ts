import type { RecordedAnswer } from '../answers.js';
import { json, number, optionalText, type Row, text } from './rows.js';

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
