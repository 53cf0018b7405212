import { digestOf } from '../json.js';
import type { NewToolCallResult, PendingToolCall, RecordOutcome, ToolCallStore } from '../sessions.js';
import { number, text, toJson, whole } from '../sql/rows.js';
import { readToolCall } from '../sql/tool-calls.js';
import type { Context } from './context.js';

export class PostgresToolCalls implements ToolCallStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  record(session: string, results: readonly NewToolCallResult[], by: string): Promise<RecordOutcome> {
    const given = results.map(({ id, content, isError }) => {
      const body = { content, isError };
      return { id, body: toJson(body), digest: digestOf(body) };
    });
    const ids = [...new Set(given.map(({ id }) => id))];
    // The session first, as every step of it: nobody waits for each other.
    const lock = 'SELECT 1 AS there FROM sessions WHERE id = ? AND expires_at > ? FOR NO KEY UPDATE';
    const find = `SELECT id, recorded_at, recorded_by, result_digest FROM calls
      WHERE session = ? AND id = ANY(?::text[])`;
    return this.#context.database.transaction(async (queries) => {
      const at = whole(this.#context.now());
      const outcome: RecordOutcome = { recorded: [], repeated: [], conflicts: [], unknown: [] };
      const isThere = (await queries.get(lock, [session, at])) !== undefined;
      const rows = isThere ? await queries.all(find, [session, ids]) : [];
      const known = new Map(rows.map((row) => [text(row, 'id'), row]));
      const fresh = new Map<string, { body: string; digest: string }>();
      for (const { id, body, digest } of given) {
        const row = known.get(id);
        const twice = fresh.get(id);
        if (row === undefined) outcome.unknown.push(id);
        else if (row['recorded_at'] !== null) {
          if (text(row, 'result_digest') === digest) outcome.repeated.push(id);
          else {
            const recordedBy = text(row, 'recorded_by');
            outcome.conflicts.push({ id, recordedAt: number(row, 'recorded_at'), recordedBy });
          }
        } else if (twice === undefined) fresh.set(id, { body, digest });
        else if (twice.digest !== digest) outcome.conflicts.push({ id, recordedAt: at, recordedBy: by });
      }
      if (outcome.unknown.length > 0 || outcome.conflicts.length > 0 || fresh.size === 0) return outcome;
      outcome.recorded.push(...fresh.keys());
      const bodies = [...fresh.values()].map(({ body }) => body);
      const digests = [...fresh.values()].map(({ digest }) => digest);
      const write = `UPDATE calls SET recorded_at = ?, recorded_by = ?, result_digest = given.digest, result = given.body
        FROM unnest(?::text[], ?::text[], ?::text[]) AS given (id, digest, body)
        WHERE calls.session = ? AND calls.id = given.id AND calls.recorded_at IS NULL`;
      const size = bodies.reduce((sum, body) => sum + body.length, 0);
      await Promise.all([
        queries.run(write, [at, by, outcome.recorded, digests, bodies, session]),
        queries.run('UPDATE sessions SET size = size + ? WHERE id = ?', [size, session]),
      ]);
      return outcome;
    });
  }

  async list(session: string): Promise<PendingToolCall[]> {
    const sql = 'SELECT * FROM calls WHERE session = ? ORDER BY number';
    return (await this.#context.database.all(sql, [session])).map(readToolCall);
  }

  async find(principal: string, ids: readonly string[]): Promise<PendingToolCall[]> {
    const { database, now } = this.#context;
    const sql = `SELECT calls.* FROM calls JOIN sessions ON sessions.id = calls.session
      WHERE calls.id = ANY(?::text[]) AND sessions.principal = ? AND sessions.expires_at > ?
      ORDER BY calls.number`;
    return (await database.all(sql, [[...new Set(ids)], principal, whole(now())])).map(readToolCall);
  }
}
