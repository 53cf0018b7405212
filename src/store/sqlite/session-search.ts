/**
 * Looks for words from the newest session back, until the page is full or enough was looked through.
 * Between its steps other work has its turn: 100,000 entries take one or two tenths of a second.
 */
import { GatewayError } from '../../core/errors.js';
import { pageSize } from '../pages.js';
import { type Excerpt, fold } from '../search-text.js';
import { MAIN_CHANNEL } from '../sessions.js';
import { number, optionalNumber, optionalText, type Row, type SqlValue, text } from '../sql/rows.js';
import { type ListPosition, SHOWN_TITLE } from '../sql/sessions.js';
import type { Context } from './context.js';
import { excerptFrom, fillSpoken, findSpoken, Slices } from './spoken.js';

const BATCH_ROWS = 200;
/** Reading a transcript takes so many times as long as looking through what was said in it. */
const FILL_COST = 8;

export interface SessionFilter {
  where: string;
  params: readonly SqlValue[];
  /** After this position. */
  after: ListPosition;
}

interface SearchOptions {
  words: readonly string[];
  limit: number;
  signal: AbortSignal | undefined;
}

interface FoundSession {
  rows: { row: Row; match: Excerpt | undefined }[];
  next: ListPosition | undefined;
}

export async function searchSessions(
  context: Context,
  filter: SessionFilter,
  { words, limit, signal }: SearchOptions,
): Promise<FoundSession> {
  const { database, limits } = context;
  const sql = `SELECT id, ${SHOWN_TITLE}, model, updated_at, spoken_up_to.seq AS noted, spoken_up_to.size AS size,
      (SELECT max(seq) FROM transcript WHERE session = sessions.id AND channel = ?) AS written
    FROM sessions LEFT JOIN spoken_up_to ON spoken_up_to.session = sessions.id
    WHERE ${filter.where} AND (updated_at, id) < (?, ?)
    ORDER BY updated_at DESC, id DESC LIMIT ${BATCH_ROWS}`;
  const search = new Search(context, words, signal);
  const rows: FoundSession['rows'] = [];
  let end = filter.after;
  for (let place = filter.after; ; ) {
    const { at, id: last } = place;
    const batch = await database.read(() => database.all(sql, [MAIN_CHANNEL, ...filter.params, at, last]));
    for (const head of batch) {
      if (search.looked > limits.search.maxBytes) return { rows, next: place };
      const id = text(head, 'id');
      const outcome = await search.look(head);
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

type Outcome = { found: false } | { found: true; match?: Excerpt | undefined };

class Search {
  readonly #context: Context;
  readonly #words: readonly string[];
  readonly #slices: Slices;
  /** Not asked of a store again that has refused it: a lock is waited for each time. */
  #fills = true;
  /** Characters, as `limits.search` counts them. */
  looked = 0;

  constructor(context: Context, words: readonly string[], signal: AbortSignal | undefined) {
    this.#context = context;
    this.#words = words;
    this.#slices = new Slices(signal);
  }

  /** A word that is in the title, the model's name or the id is seen there, and not searched for in the messages. */
  async look(head: Row): Promise<Outcome> {
    await this.#slices.next();
    const id = text(head, 'id');
    const shown = fold([optionalText(head, 'title') ?? '', text(head, 'model'), id].join('\n'));
    const rest = this.#words.filter((word) => !shown.includes(word));
    const [first] = rest;
    if (first === undefined) return { found: true };
    const isBehind = (optionalNumber(head, 'noted') ?? 0) < (optionalNumber(head, 'written') ?? 0);
    if (isBehind) await this.#fill(id);
    const size = isBehind ? await this.#sizeOf(id) : (optionalNumber(head, 'size') ?? 0);
    const find = (words: readonly string[]) => {
      this.looked += size;
      return findSpoken(this.#context, { session: id, size }, words, this.#slices);
    };
    let seq: number | undefined;
    for (const word of rest) {
      const found = await find([word]);
      if (found === undefined) return { found: false };
      seq ??= found;
    }
    if (rest.length > 1) seq = (await find(rest)) ?? seq;
    if (seq === undefined) return { found: false };
    return { found: true, match: await excerptFrom(this.#context, id, seq, first) };
  }

  /** A store that is full, read-only or locked is searched all the same, as far as it was noted. */
  async #fill(id: string): Promise<void> {
    if (!this.#fills) return;
    try {
      this.looked += FILL_COST * (await fillSpoken(this.#context, id, this.#slices));
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'unavailable') throw error;
      this.#fills = false;
    }
  }

  async #sizeOf(id: string): Promise<number> {
    const { database } = this.#context;
    const sql = 'SELECT size FROM spoken_up_to WHERE session = ?';
    const row = await database.read(() => database.get(sql, [id]));
    return row === undefined ? 0 : number(row, 'size');
  }
}
