import type { HistoryIndex, HistoryMatch } from '../history-index.js';
import type { Context } from './context.js';
import { number, type Row, text } from './rows.js';

/** Clients mostly echo all they know, so the match is mostly in the first probe from the end. */
const PROBE = 32;

const PROMPT = `coalesce(json_extract(sessions.metadata, '$.prompt'), '')`;

const matching = (before: string): string => `
  SELECT history.hash, history.session, history.position,
    history.position = (SELECT max(position) FROM history AS own WHERE own.session = history.session) AS head
  FROM json_each(?) AS chain
  CROSS JOIN history ON history.principal = ? AND history.hash = chain.value
  CROSS JOIN sessions ON sessions.id = history.session AND sessions.expires_at > ?
  ORDER BY chain.key DESC,${before} head DESC, sessions.updated_at DESC, sessions.id DESC
  LIMIT ?`;

const LONGEST = matching('');
const ALL = matching(` ${PROMPT} = ? DESC,`);

export class SqliteHistoryIndex implements HistoryIndex {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  longestPrefix(principal: string, chain: readonly string[]): Promise<HistoryMatch | undefined> {
    const { database, now } = this.#context;
    return database.read(() => {
      for (let end = chain.length; end > 0; end -= PROBE) {
        const part = JSON.stringify(chain.slice(Math.max(0, end - PROBE), end));
        const row = database.get(LONGEST, [part, principal, now(), 1]);
        if (row !== undefined) return readMatch(row);
      }
      return undefined;
    });
  }

  find(
    principal: string,
    hash: string,
    { limit, prompt }: { limit: number; prompt: string },
  ): Promise<HistoryMatch[]> {
    const { database, now } = this.#context;
    const params = [JSON.stringify([hash]), principal, now(), prompt, limit];
    return database.read(() => database.all(ALL, params).map(readMatch));
  }
}

function readMatch(row: Row): HistoryMatch {
  return {
    hash: text(row, 'hash'),
    session: text(row, 'session'),
    position: number(row, 'position'),
    head: number(row, 'head') === 1,
  };
}
