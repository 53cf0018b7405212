import type { Run } from '../runs.js';
import { json, number, optionalText, type Row, text } from './rows.js';

/** Columns of a run without what was asked. */
export const RUN_HEAD = 'id, principal, session, state, attempts, owner, started_at';

export function readRun(row: Row): Run {
  return { ...readRunHead(row), request: json<unknown>(row, 'request') };
}

/** Without what was asked. */
export function readRunHead(row: Row): Omit<Run, 'request'> {
  const session = optionalText(row, 'session');
  return {
    id: text(row, 'id'),
    principal: text(row, 'principal'),
    ...(session !== undefined && { session }),
    state: row['state'] === 'running' ? 'running' : 'interrupted',
    attempts: number(row, 'attempts'),
    owner: text(row, 'owner'),
    startedAt: number(row, 'started_at'),
  };
}
