import type { HistoryIndex, HistoryMatch } from '../sessions.js';
import { PROBE, readMatch } from '../sql/history.js';
import { whole } from '../sql/rows.js';
import type { Context } from './context.js';

/** After the first probe from the end, which mostly has it: each is a question to the server. */
const NEXT_PROBE = 512;

const matching = (before: string): string => `
  SELECT history.hash, history.session, history.position,
    (history.position = (SELECT max(position) FROM history AS own WHERE own.session = history.session))::int AS head
  FROM unnest(?::text[]) WITH ORDINALITY AS chain (hash, place)
  JOIN history ON history.principal = ? AND history.hash = chain.hash
  JOIN sessions ON sessions.id = history.session AND sessions.expires_at > ?
  ORDER BY chain.place DESC,${before} head DESC, sessions.updated_at DESC, sessions.id DESC
  LIMIT ?`;

const LONGEST = matching('');
const ALL = matching(' (sessions.prompt = ?) DESC,');

export class PostgresHistoryIndex implements HistoryIndex {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async longestPrefix(principal: string, chain: readonly string[]): Promise<HistoryMatch | undefined> {
    const { database, now } = this.#context;
    let probe = PROBE;
    for (let end = chain.length; end > 0; ) {
      const begin = Math.max(0, end - probe);
      const row = await database.get(LONGEST, [chain.slice(begin, end), principal, whole(now()), 1]);
      if (row !== undefined) return readMatch(row);
      end = begin;
      probe = NEXT_PROBE;
    }
    return undefined;
  }

  async find(
    principal: string,
    hash: string,
    { limit, prompt }: { limit: number; prompt: string },
  ): Promise<HistoryMatch[]> {
    const { database, now } = this.#context;
    return (await database.all(ALL, [[hash], principal, whole(now()), prompt, limit])).map(readMatch);
  }
}
