/**
 * Looks for words from the newest session back, until the page is full. Between sessions other work
 * has its turn: 100,000 entries take about a tenth of a second.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Excerpt } from '../excerpt.js';
import { fold } from '../fold.js';
import { MAIN_CHANNEL } from '../transcripts.js';
import type { Context } from './context.js';
import type { SqlValue } from './database.js';
import { pageSize } from './paging.js';
import { number, optionalNumber, optionalText, type Row, text } from './rows.js';
import { excerptFrom, fillSpoken, findSpoken } from './spoken.js';

const BATCH_ROWS = 200;
/** Longer than this nothing else waits. */
const SLICE_MS = 8;

/** Of `sessions`, in the order of the list. */
export interface ListPlace {
  at: number;
  id: string;
}

export interface SessionFilter {
  /** `sessions`, with the index to use where one has to be named. */
  from: string;
  where: string;
  params: readonly SqlValue[];
  /** Behind this place. */
  after: ListPlace;
}

export interface Found {
  rows: { row: Row; match: Excerpt | undefined }[];
  next: ListPlace | undefined;
}

/** Reading a transcript takes so many times as long as looking through what was said in it. */
const FILL_COST = 8;

/** `cost`: characters, as `limits.search` counts them. */
type Outcome = { found: boolean; match?: Excerpt | undefined; cost: number };

export async function searchSessions(
  context: Context,
  filter: SessionFilter,
  words: readonly string[],
  limit: number,
): Promise<Found> {
  const { database, limits } = context;
  const sql = `SELECT id, title, model, size, updated_at, spoken,
      (SELECT max(seq) FROM transcript WHERE session = sessions.id AND channel = ?) AS written
    FROM ${filter.from}
    WHERE ${filter.where} AND (updated_at, id) < (?, ?)
    ORDER BY updated_at DESC, id DESC LIMIT ${BATCH_ROWS}`;
  const rows: Found['rows'] = [];
  let end = filter.after;
  let looked = 0;
  let sliceEnd = performance.now() + SLICE_MS;
  for (let place = filter.after; ; ) {
    const { at, id: last } = place;
    const batch = await database.read(() => database.all(sql, [MAIN_CHANNEL, ...filter.params, at, last]));
    for (const head of batch) {
      if (looked > limits.search.maxBytes) return { rows, next: place };
      if (performance.now() > sliceEnd) {
        await nextTurn();
        sliceEnd = performance.now() + SLICE_MS;
      }
      const id = text(head, 'id');
      const outcome = await look(context, head, words);
      looked += outcome.cost;
      place = { at: number(head, 'updated_at'), id };
      if (!outcome.found) continue;
      const row = await database.read(() => database.get('SELECT * FROM sessions WHERE id = ?', [id]));
      if (row === undefined) continue;
      // One more than fits was found: there is a next page, and something on it.
      if (rows.length === pageSize(limit)) return { rows, next: end };
      rows.push({ row, match: outcome.match });
      end = place;
    }
    if (batch.length < BATCH_ROWS) return { rows, next: undefined };
  }
}

/** A word that is in the title, the model's name or the id is seen there, and not looked for behind them. */
async function look(context: Context, head: Row, words: readonly string[]): Promise<Outcome> {
  const id = text(head, 'id');
  const shown = fold([optionalText(head, 'title') ?? '', text(head, 'model'), id].join('\n'));
  const rest = words.filter((word) => !shown.includes(word));
  const [first] = rest;
  if (first === undefined) return { found: true, cost: 0 };
  const isBehind = number(head, 'spoken') < (optionalNumber(head, 'written') ?? 0);
  if (isBehind) await fillSpoken(context, id);
  const cost = number(head, 'size') * (isBehind ? FILL_COST : 1);
  let seq: number | undefined;
  for (const word of rest) {
    const found = await findSpoken(context, id, [word]);
    if (found === undefined) return { found: false, cost };
    seq ??= found;
  }
  if (rest.length > 1) seq = (await findSpoken(context, id, rest)) ?? seq;
  const match = seq === undefined ? undefined : await excerptFrom(context, id, seq, first);
  return { found: true, match, cost };
}
