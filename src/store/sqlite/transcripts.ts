import {
  MAIN_CHANNEL,
  type TranscriptEntry,
  type TranscriptRange,
  type TranscriptStore,
} from '../transcripts.js';
import type { Context } from './context.js';
import { json, number, optionalJson, type Row, text } from './rows.js';

export class SqliteTranscripts implements TranscriptStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  read(session: string, range: TranscriptRange = {}): Promise<TranscriptEntry[]> {
    const { database } = this.#context;
    // A negative LIMIT is none.
    const sql = `SELECT seq, uuid, at, message, meta FROM transcript
      WHERE session = ? AND channel = ? AND seq > ? ORDER BY seq LIMIT ?`;
    const params = [session, range.channel ?? MAIN_CHANNEL, range.after ?? 0, range.limit ?? -1];
    return database.read(() => database.all(sql, params).map(readEntry));
  }

  channels(session: string): Promise<string[]> {
    const { database } = this.#context;
    const sql = 'SELECT DISTINCT channel FROM transcript WHERE session = ? ORDER BY channel';
    return database.read(() => database.all(sql, [session]).map((row) => text(row, 'channel')));
  }
}

function readEntry(row: Row): TranscriptEntry {
  const meta = optionalJson<unknown>(row, 'meta');
  return {
    seq: number(row, 'seq'),
    uuid: text(row, 'uuid'),
    at: number(row, 'at'),
    message: json<unknown>(row, 'message'),
    ...(meta !== undefined && { meta }),
  };
}
