/** What was said in each entry of a conversation, as a search compares it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Excerpt, excerptOf } from '../excerpt.js';
import { fold } from '../fold.js';
import { spokenIn } from '../spoken.js';
import { MAIN_CHANNEL } from '../transcripts.js';
import type { Context } from './context.js';
import { json, number } from './rows.js';

/** Not many: one entry may hold images. */
const FILL_ROWS = 100;

/** Inside of a transaction that writes entries, and then `upTo` to the session. */
export class SpokenNotes {
  readonly #context: Context;
  readonly #session: string;
  /** The last entry in front of which none is missing. */
  upTo: number;

  constructor(context: Context, session: string, upTo: number) {
    this.#context = context;
    this.#session = session;
    this.upTo = upTo;
  }

  note(channel: string, seq: number, message: unknown): void {
    // Where one before it is missing, it is left to `fillSpoken` as well.
    if (channel !== MAIN_CHANNEL || seq !== this.upTo + 1) return;
    this.upTo = seq;
    const words = spokenIn(message);
    if (words === '') return;
    const { database, redact } = this.#context;
    const sql = 'INSERT INTO spoken (session, seq, folded) VALUES (?, ?, ?)';
    database.run(sql, [this.#session, seq, fold(redact(words))]);
  }
}

/** Entries that were written without. */
export async function fillSpoken(context: Context, session: string): Promise<void> {
  const { database } = context;
  const missing = `SELECT seq, message FROM transcript WHERE session = ? AND channel = ? AND seq > ?
    ORDER BY seq LIMIT ${FILL_ROWS}`;
  for (;;) {
    const filled = await database.write(() => {
      const row = database.get('SELECT spoken FROM sessions WHERE id = ?', [session]);
      if (row === undefined) return 0;
      const notes = new SpokenNotes(context, session, number(row, 'spoken'));
      const entries = database.all(missing, [session, MAIN_CHANNEL, notes.upTo]);
      for (const entry of entries) {
        notes.note(MAIN_CHANNEL, number(entry, 'seq'), json<unknown>(entry, 'message'));
      }
      database.run('UPDATE sessions SET spoken = ? WHERE id = ?', [notes.upTo, session]);
      return entries.length;
    }, 'relaxed');
    if (filled < FILL_ROWS) return;
    await nextTurn();
  }
}

/** The newest entry that has all of the words. */
export async function findSpoken(
  { database }: Context,
  session: string,
  words: readonly string[],
): Promise<number | undefined> {
  const has = words.map(() => 'instr(folded, ?) > 0').join(' AND ');
  const sql = `SELECT seq FROM spoken WHERE session = ? AND ${has} ORDER BY seq DESC LIMIT 1`;
  const row = await database.read(() => database.get(sql, [session, ...words]));
  return row && number(row, 'seq');
}

export async function excerptFrom(
  { database, redact }: Context,
  session: string,
  seq: number,
  word: string,
): Promise<Excerpt | undefined> {
  const sql = 'SELECT message FROM transcript WHERE session = ? AND channel = ? AND seq = ?';
  const row = await database.read(() => database.get(sql, [session, MAIN_CHANNEL, seq]));
  return row && excerptOf(redact(spokenIn(json<unknown>(row, 'message'))), word);
}
