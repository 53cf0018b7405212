/**
 * Looks for words from the newest session back, until the page is full or enough was looked through.
 * The server compares; some hundred sessions are one question to it.
 */
import { GatewayError } from '../../core/errors.js';
import { pageSize } from '../pages.js';
import { type Excerpt, fold } from '../search-text.js';
import { MAIN_CHANNEL } from '../sessions.js';
import { number, optionalNumber, optionalText, type Row, text } from '../sql/rows.js';
import { type ListPosition, SHOWN_TITLE } from '../sql/sessions.js';
import type { Context } from './context.js';
import type { Value } from './database.js';
import { excerptsFrom, fillSpoken, findSpoken } from './spoken.js';

/** Few at first: a common word fills the page with the newest. */
const BATCH_ROWS = { first: 50, most: 1000 };
/** Characters that one question to the server looks through, where no single session has more. */
const STEP_SIZE = 8 * 1024 * 1024;
/** Reading a transcript takes so many times as long as looking through what was said in it. */
const FILL_COST = 8;

export interface SessionFilter {
  where: string;
  params: readonly Value[];
  /** After this position. */
  after: ListPosition;
}

interface SearchOptions {
  words: readonly string[];
  limit: number;
  signal: AbortSignal | undefined;
}

interface FoundSession {
  position: ListPosition;
  /** Where, and which word is marked there; none where the title says enough. */
  seen: { seq: number; word: string } | undefined;
}

interface FoundPage {
  rows: { row: Row; match: Excerpt | undefined }[];
  next: ListPosition | undefined;
}

/** A session that is looked at: `rest` are the words that its title, model and id do not have. */
interface Candidate {
  position: ListPosition;
  rest: readonly string[];
  size: number;
}

export async function searchSessions(
  context: Context,
  filter: SessionFilter,
  { words, limit, signal }: SearchOptions,
): Promise<FoundPage> {
  const search = new Search(context, words, signal);
  const most = pageSize(limit);
  const found: FoundSession[] = [];
  let place = filter.after;
  for (let rows = BATCH_ROWS.first; ; rows = Math.min(rows * 4, BATCH_ROWS.most)) {
    const heads = await headsAfter(context, filter, place, rows);
    for (let from = 0; from < heads.length; ) {
      if (search.isOver) return page(context, found, place);
      const { candidates, next } = await search.take(heads, from);
      const matches = await search.find(candidates);
      for (const candidate of candidates) {
        const { position } = candidate;
        const seq = matches.get(position.id);
        place = position;
        if (seq === undefined) continue;
        const end = found.at(-1)?.position;
        // One more than fits was found: there is a next page, and something on it.
        if (found.length === most && end !== undefined) return page(context, found, end);
        const [word] = candidate.rest;
        found.push({ position, seen: word === undefined ? undefined : { seq, word } });
      }
      from = next;
    }
    if (heads.length < rows) return page(context, found, undefined);
  }
}

async function headsAfter(
  { database }: Context,
  { where, params }: SessionFilter,
  after: ListPosition,
  rows: number,
): Promise<Row[]> {
  const sql = `SELECT id, ${SHOWN_TITLE}, model, updated_at, spoken_up_to.seq AS noted, spoken_up_to.size AS said,
      (SELECT max(seq) FROM transcript WHERE transcript.session = sessions.id AND channel = ?) AS written
    FROM sessions LEFT JOIN spoken_up_to ON spoken_up_to.session = sessions.id
    WHERE ${where} AND (updated_at, id) < (?, ?)
    ORDER BY updated_at DESC, id DESC LIMIT ?`;
  return database.all(sql, [MAIN_CHANNEL, ...params, after.at, after.id, rows]);
}

/** What was deleted meanwhile is left out. */
async function page(
  context: Context,
  found: readonly FoundSession[],
  next: ListPosition | undefined,
): Promise<FoundPage> {
  if (found.length === 0) return { rows: [], next };
  const sql = 'SELECT * FROM sessions WHERE id = ANY(?::text[])';
  const seen = found.flatMap(({ position, seen: at }) =>
    at === undefined ? [] : [{ session: position.id, ...at }],
  );
  const [rows, matches] = await Promise.all([
    context.database.all(sql, [found.map(({ position }) => position.id)]),
    excerptsFrom(context, seen),
  ]);
  const byId = new Map(rows.map((row) => [text(row, 'id'), row]));
  const shown = found.flatMap(({ position: { id } }) => {
    const row = byId.get(id);
    return row === undefined ? [] : [{ row, match: matches.get(id) }];
  });
  return { rows: shown, next };
}

class Search {
  readonly #context: Context;
  readonly #words: readonly string[];
  readonly #signal: AbortSignal | undefined;
  /** Not asked of a store again that has refused it. */
  #fills = true;
  /** Characters, as `limits.search` counts them. */
  #looked = 0;

  constructor(context: Context, words: readonly string[], signal: AbortSignal | undefined) {
    this.#context = context;
    this.#words = words;
    this.#signal = signal;
  }

  get isOver(): boolean {
    return this.#looked > this.#context.limits.search.maxBytes;
  }

  /** As many as one question looks through, with what was said in them noted. */
  async take(heads: readonly Row[], from: number): Promise<{ candidates: Candidate[]; next: number }> {
    const candidates: Candidate[] = [];
    let next = from;
    let size = 0;
    while (next < heads.length && size <= STEP_SIZE && !(candidates.length > 0 && this.isOver)) {
      this.#signal?.throwIfAborted();
      const candidate = await this.#candidate(heads[next] ?? {});
      candidates.push(candidate);
      size += candidate.size * candidate.rest.length;
      this.#looked += candidate.size * candidate.rest.length;
      next += 1;
    }
    return { candidates, next };
  }

  /** The newest entry for each session that has all words; 0 where none is to be shown. */
  async find(candidates: readonly Candidate[]): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const byWords = new Map<string, Candidate[]>();
    for (const candidate of candidates) {
      if (candidate.rest.length === 0) found.set(candidate.position.id, 0);
      else {
        const key = JSON.stringify(candidate.rest);
        byWords.set(key, [...(byWords.get(key) ?? []), candidate]);
      }
    }
    for (const same of byWords.values()) {
      this.#signal?.throwIfAborted();
      const sessions = same.map(({ position }) => position.id);
      for (const [id, seq] of await findSpoken(this.#context, sessions, same[0]?.rest ?? []))
        found.set(id, seq);
    }
    this.#signal?.throwIfAborted();
    return found;
  }

  /** A word that is in the title, the model's name or the id is seen there, and not searched for in the messages. */
  async #candidate(head: Row): Promise<Candidate> {
    const id = text(head, 'id');
    const position = { at: number(head, 'updated_at'), id };
    const shown = fold([optionalText(head, 'title') ?? '', text(head, 'model'), id].join('\n'));
    const rest = this.#words.filter((word) => !shown.includes(word));
    let size = optionalNumber(head, 'said') ?? 0;
    const isBehind = (optionalNumber(head, 'noted') ?? 0) < (optionalNumber(head, 'written') ?? 0);
    if (rest.length > 0 && isBehind) size += await this.#fill(id);
    return { position, rest, size };
  }

  /** Characters added. A store that is full or read-only is searched all the same, as far as it was noted. */
  async #fill(id: string): Promise<number> {
    if (!this.#fills) return 0;
    try {
      const { read, added } = await fillSpoken(this.#context, id, this.#signal);
      this.#looked += FILL_COST * read;
      return added;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'unavailable') throw error;
      this.#fills = false;
      return 0;
    }
  }
}
