import type { JsonObject, ToolResultContent } from '../../core/conversation.js';
import type { PendingToolCall } from '../sessions.js';
import { json, number, optionalJson, optionalNumber, type Row, text } from './rows.js';

interface StoredResult {
  content: ToolResultContent[];
  isError: boolean;
}

export function readToolCall(row: Row): PendingToolCall {
  const recordedAt = optionalNumber(row, 'recorded_at');
  const result = optionalJson<StoredResult>(row, 'result');
  return {
    session: text(row, 'session'),
    id: text(row, 'id'),
    name: text(row, 'name'),
    input: json<JsonObject>(row, 'input'),
    runBy: text(row, 'run_by') === 'server' ? 'server' : 'client',
    state: row['used_at'] !== null ? 'used' : recordedAt !== undefined ? 'answered' : 'open',
    openedAt: number(row, 'opened_at'),
    ...(result !== undefined &&
      recordedAt !== undefined && {
        result: { ...result, recordedAt, recordedBy: text(row, 'recorded_by') },
      }),
  };
}
