/** What was said in each entry of a conversation, as a search compares it. */
import { type Excerpt, excerptOf, fold, spokenIn } from '../search-text.js';
import { MAIN_CHANNEL } from '../sessions.js';
import { json, number, type Row, text } from '../sql/rows.js';
import type { Context } from './context.js';

/** Bytes that are read and folded at once, some milliseconds; `rows` is how far ahead sizes are looked at. */
const FILL = { bytes: 256 * 1024, rows: 200 };

/**
 * Notes what no search has indexed yet: the writer does not wait for the index. `read` are bytes of
 * the transcript, `added` characters. Rejects where the store cannot be written.
 */
export async function fillSpoken(
  { database, redact }: Context,
  session: string,
  signal: AbortSignal | undefined,
): Promise<{ read: number; added: number }> {
  const ahead = `SELECT seq, octet_length(message) AS bytes FROM transcript
    WHERE session = ? AND channel = ? AND seq > ? ORDER BY seq LIMIT ${FILL.rows}`;
  const missing =
    'SELECT seq, message FROM transcript WHERE session = ? AND channel = ? AND seq > ? AND seq <= ?';
  const total = { read: 0, added: 0 };
  for (;;) {
    signal?.throwIfAborted();
    const noted = await database.get('SELECT seq FROM spoken_up_to WHERE session = ?', [session]);
    const from = noted === undefined ? 0 : number(noted, 'seq');
    const step = oneStep(await database.all(ahead, [session, MAIN_CHANNEL, from]));
    if (step === undefined) return total;
    total.read += step.bytes;
    const rows = await database.all(missing, [session, MAIN_CHANNEL, from, step.last]);
    const notes = rows
      .map((row) => ({
        seq: number(row, 'seq'),
        folded: fold(spokenIn(json<unknown>(row, 'message'), redact)),
      }))
      .filter(({ folded }) => folded !== '');
    total.added += await note({ database }, session, { from, to: step.last, notes });
  }
}

interface Notes {
  from: number;
  to: number;
  notes: readonly { seq: number; folded: string }[];
}

/** Characters added: none where another search, here or on another node, was faster. */
function note(
  { database }: Pick<Context, 'database'>,
  session: string,
  { from, to, notes }: Notes,
): Promise<number> {
  const size = notes.reduce((sum, { folded }) => sum + folded.length, 0);
  const move = `INSERT INTO spoken_up_to (session, seq, size) VALUES (?, ?, ?)
    ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, size = spoken_up_to.size + excluded.size`;
  const insert = `INSERT INTO spoken (session, seq, folded)
    SELECT ?, seq, folded FROM unnest(?::bigint[], ?::text[]) AS given (seq, folded)`;
  return database.transaction(async (queries) => {
    const lock = await queries.get('SELECT 1 AS there FROM sessions WHERE id = ? FOR NO KEY UPDATE', [
      session,
    ]);
    const noted = await queries.get('SELECT seq FROM spoken_up_to WHERE session = ?', [session]);
    if (lock === undefined || (noted === undefined ? 0 : number(noted, 'seq')) !== from) return 0;
    await Promise.all([
      queries.run(insert, [session, notes.map(({ seq }) => seq), notes.map(({ folded }) => folded)]),
      queries.run(move, [session, to, size]),
      queries.run('UPDATE sessions SET size = size + ? WHERE id = ?', [size, session]),
    ]);
    return size;
  }, 'relaxed');
}

/** How many of the rows have together not more than one step; one, where it alone has more. */
function oneStep(rows: readonly Row[]): { last: number; bytes: number } | undefined {
  let step: { last: number; bytes: number } | undefined;
  for (const row of rows) {
    const bytes = (step?.bytes ?? 0) + number(row, 'bytes');
    if (step !== undefined && bytes > FILL.bytes) break;
    step = { last: number(row, 'seq'), bytes };
  }
  return step;
}

/**
 * Of these sessions, those in which each of the words was said: with the newest entry that has all of
 * them, else the newest that has the first.
 */
export async function findSpoken(
  { database }: Context,
  sessions: readonly string[],
  words: readonly string[],
): Promise<Map<string, number>> {
  const has = words.map(() => 'strpos(folded, ?) > 0');
  const newest = has.map((each, index) => `max(seq) FILTER (WHERE ${each}) AS w${index}`);
  // Of a single word both are the same.
  const together = words.length === 1 ? '' : `, max(seq) FILTER (WHERE ${has.join(' AND ')}) AS together`;
  const sql = `SELECT session, ${together === '' ? 'w0' : 'coalesce(together, w0)'} AS seq FROM (
      SELECT session, ${newest}${together} FROM spoken WHERE session = ANY(?::text[]) GROUP BY session
    ) AS said WHERE ${words.map((_, index) => `w${index} IS NOT NULL`).join(' AND ')}`;
  const rows = await database.all(sql, [...words, ...(together === '' ? [] : words), sessions]);
  return new Map(rows.map((row) => [text(row, 'session'), number(row, 'seq')]));
}

/** By session, one entry of each. */
export async function excerptsFrom(
  { database, redact }: Context,
  seen: readonly { session: string; seq: number; word: string }[],
): Promise<Map<string, Excerpt>> {
  const sql = `SELECT transcript.session, message FROM unnest(?::text[], ?::bigint[]) AS seen (session, seq)
    JOIN transcript ON transcript.session = seen.session AND transcript.seq = seen.seq AND channel = ?`;
  const words = new Map(seen.map(({ session, word }) => [session, word]));
  const seqs = seen.map(({ seq }) => seq);
  const rows = seen.length === 0 ? [] : await database.all(sql, [[...words.keys()], seqs, MAIN_CHANNEL]);
  return new Map(
    rows.map((row) => {
      const session = text(row, 'session');
      const said = spokenIn(json<unknown>(row, 'message'), redact);
      return [session, excerptOf(said, words.get(session) ?? '')];
    }),
  );
}
