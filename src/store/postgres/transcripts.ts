import {
  MAIN_CHANNEL,
  type TranscriptEntry,
  type TranscriptRange,
  type TranscriptStore,
} from '../sessions.js';
import { text } from '../sql/rows.js';
import { readTranscriptEntry } from '../sql/transcripts.js';
import type { Context } from './context.js';

export class PostgresTranscripts implements TranscriptStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async read(session: string, range: TranscriptRange = {}): Promise<TranscriptEntry[]> {
    // A LIMIT of null is none.
    const sql = `SELECT seq, uuid, at, message, meta FROM transcript
      WHERE session = ? AND channel = ? AND seq > ? ORDER BY seq LIMIT ?`;
    const params = [session, range.channel ?? MAIN_CHANNEL, range.after ?? 0, range.limit ?? null];
    return (await this.#context.database.all(sql, params)).map(readTranscriptEntry);
  }

  async channels(session: string): Promise<string[]> {
    const sql = 'SELECT DISTINCT channel FROM transcript WHERE session = ? ORDER BY channel';
    return (await this.#context.database.all(sql, [session])).map((row) => text(row, 'channel'));
  }
}
