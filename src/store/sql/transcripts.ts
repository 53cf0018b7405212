import type { TranscriptEntry } from '../sessions.js';
import { json, number, optionalJson, type Row, text } from './rows.js';

export function readTranscriptEntry(row: Row): TranscriptEntry {
  const meta = optionalJson<unknown>(row, 'meta');
  return {
    seq: number(row, 'seq'),
    uuid: text(row, 'uuid'),
    at: number(row, 'at'),
    message: json<unknown>(row, 'message'),
    ...(meta !== undefined && { meta }),
  };
}
