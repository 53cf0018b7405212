/** What was said in each entry of a conversation, as a search compares it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Excerpt, excerptOf, fold, spokenIn } from '../search-text.js';
import { MAIN_CHANNEL } from '../sessions.js';
import { json, number, type Row } from '../sql/rows.js';
import type { Context } from './context.js';
import type { Database } from './database.js';

/** Longer than this nothing else waits, where no single step takes longer. */
const SLICE_MS = 8;

/** Long work, with turns of the event loop in between, that can be ended from outside. */
export class Slices {
  readonly #signal: AbortSignal | undefined;
  #end = performance.now() + SLICE_MS;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Before each step. Rejects with the reason of the signal. */
  async next(): Promise<void> {
    this.#signal?.throwIfAborted();
    if (performance.now() < this.#end) return;
    await nextTurn();
    this.#signal?.throwIfAborted();
    this.#end = performance.now() + SLICE_MS;
  }
}

/** Bytes of one step, a few milliseconds each; `rows` is how far ahead their sizes are looked at. */
const STEP = { fill: 256 * 1024, find: 1024 * 1024, rows: 64 };

function upTo(database: Database, session: string): number {
  const row = database.get('SELECT seq FROM spoken_up_to WHERE session = ?', [session]);
  return row === undefined ? 0 : number(row, 'seq');
}

/** Characters added: none for an entry that was deleted meanwhile. */
function insert(database: Database, session: string, seq: number, folded: string): number {
  if (folded === '') return 0;
  const sql = `INSERT INTO spoken (session, seq, folded)
    SELECT session, seq, ? FROM transcript WHERE session = ? AND channel = ? AND seq = ?`;
  return database.run(sql, [folded, session, MAIN_CHANNEL, seq]) * folded.length;
}

function move(database: Database, session: string, seq: number, size: number): void {
  const sql = `INSERT INTO spoken_up_to (session, seq, size) SELECT id, ?, ? FROM sessions WHERE id = ?
    ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, size = size + excluded.size`;
  database.run(sql, [seq, size, session]);
}

/**
 * Bytes read of entries that no search has indexed yet: the writer does not wait for the index.
 * Rejects where the store cannot be written.
 */
export async function fillSpoken(context: Context, session: string, slices: Slices): Promise<number> {
  const { database, redact } = context;
  const ahead = `SELECT seq, octet_length(message) AS bytes FROM transcript
    WHERE session = ? AND channel = ? AND seq > ? ORDER BY seq LIMIT ${STEP.rows}`;
  const missing =
    'SELECT seq, message FROM transcript WHERE session = ? AND channel = ? AND seq > ? AND seq <= ?';
  let bytes = 0;
  for (;;) {
    await slices.next();
    const from = await database.read(() => upTo(database, session));
    const step = await database.read(() =>
      oneStep(database.all(ahead, [session, MAIN_CHANNEL, from]), STEP.fill),
    );
    if (step === undefined) return bytes;
    bytes += step.bytes;
    // Read and folded before the write lock is taken.
    const rows = await database.read(() => database.all(missing, [session, MAIN_CHANNEL, from, step.last]));
    const notes = rows.map((row) => ({
      seq: number(row, 'seq'),
      folded: fold(spokenIn(json<unknown>(row, 'message'), redact)),
    }));
    await database.write(() => {
      // Another search, here or in another process, was faster.
      if (upTo(database, session) !== from) return;
      let size = 0;
      for (const { seq, folded } of notes) size += insert(database, session, seq, folded);
      move(database, session, step.last, size);
      database.run('UPDATE sessions SET size = size + ? WHERE id = ?', [size, session]);
    }, 'relaxed');
  }
}

/** The newest entry that has all of the words. `size`: of all that was said in the session. */
export async function findSpoken(
  { database }: Context,
  { session, size }: { session: string; size: number },
  words: readonly string[],
  slices: Slices,
): Promise<number | undefined> {
  const has = words.map(() => 'instr(folded, ?) > 0').join(' AND ');
  const sql = `SELECT seq FROM spoken WHERE session = ? AND seq >= ? AND seq < ? AND ${has}
    ORDER BY seq DESC LIMIT 1`;
  const back = `SELECT seq, octet_length(folded) AS bytes FROM spoken
    WHERE session = ? AND seq < ? ORDER BY seq DESC LIMIT ${STEP.rows}`;
  const most = STEP.find / words.length;
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    await slices.next();
    const from =
      size <= most
        ? 0
        : await database.read(() => oneStep(database.all(back, [session, before]), most)?.last);
    if (from === undefined) return undefined;
    const row = await database.read(() => database.get(sql, [session, from, before, ...words]));
    if (row !== undefined) return number(row, 'seq');
    if (from === 0) return undefined;
    before = from;
  }
}

/** How many of the rows have together not more than so many bytes; one, where it alone has more. */
function oneStep(rows: readonly Row[], most: number): { last: number; bytes: number } | undefined {
  let step: { last: number; bytes: number } | undefined;
  for (const row of rows) {
    const bytes = (step?.bytes ?? 0) + number(row, 'bytes');
    if (step !== undefined && bytes > most) break;
    step = { last: number(row, 'seq'), bytes };
  }
  return step;
}

export async function excerptFrom(
  { database, redact }: Context,
  session: string,
  seq: number,
  word: string,
): Promise<Excerpt | undefined> {
  const sql = 'SELECT message FROM transcript WHERE session = ? AND channel = ? AND seq = ?';
  const row = await database.read(() => database.get(sql, [session, MAIN_CHANNEL, seq]));
  return row && excerptOf(spokenIn(json<unknown>(row, 'message'), redact), word);
}
