import { digestOf } from '../json.js';
import type { NewToolCallResult, PendingToolCall, RecordOutcome, ToolCallStore } from '../sessions.js';
import { number, text, toJson, whole } from '../sql/rows.js';
import { readToolCall } from '../sql/tool-calls.js';
import type { Context } from './context.js';

export class SqliteToolCalls implements ToolCallStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  record(session: string, results: readonly NewToolCallResult[], by: string): Promise<RecordOutcome> {
    const { database } = this.#context;
    // Digests before the lock is taken: results may be large.
    const given = results.map(({ id, content, isError }) => {
      const body = { content, isError };
      return { id, body: toJson(body), digest: digestOf(body) };
    });
    return database.write(() => {
      const at = whole(this.#context.now());
      const outcome: RecordOutcome = { recorded: [], repeated: [], conflicts: [], unknown: [] };
      const fresh = new Map<string, { body: string; digest: string }>();
      const sql = `SELECT calls.recorded_at, calls.recorded_by, calls.result_digest FROM calls
        JOIN sessions ON sessions.id = calls.session
        WHERE calls.session = ? AND calls.id = ? AND sessions.expires_at > ?`;
      for (const { id, body, digest } of given) {
        const row = database.get(sql, [session, id, at]);
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
      if (outcome.unknown.length > 0 || outcome.conflicts.length > 0) return outcome;
      for (const [id, { body, digest }] of fresh) {
        database.run(
          `UPDATE calls SET recorded_at = ?, recorded_by = ?, result_digest = ?, result = ?
           WHERE session = ? AND id = ? AND recorded_at IS NULL`,
          [at, by, digest, body, session, id],
        );
        database.run('UPDATE sessions SET size = size + ? WHERE id = ?', [body.length, session]);
        outcome.recorded.push(id);
      }
      return outcome;
    });
  }

  list(session: string): Promise<PendingToolCall[]> {
    const { database } = this.#context;
    const sql = 'SELECT * FROM calls WHERE session = ? ORDER BY number';
    return database.read(() => database.all(sql, [session]).map(readToolCall));
  }

  find(principal: string, ids: readonly string[]): Promise<PendingToolCall[]> {
    const { database, now } = this.#context;
    const sql = `SELECT calls.* FROM json_each(?) AS given
      CROSS JOIN calls ON calls.id = given.value
      CROSS JOIN sessions ON sessions.id = calls.session
      WHERE sessions.principal = ? AND sessions.expires_at > ? ORDER BY calls.number`;
    const distinct = JSON.stringify([...new Set(ids)]);
    return database.read(() => database.all(sql, [distinct, principal, now()]).map(readToolCall));
  }
}
