import { redactJson } from '../json.js';
import type { LearnedQuirk, QuirkStore } from '../quirks.js';
import type { Context } from './context.js';
import { json, number, text, toJson, whole } from './rows.js';

export class SqliteQuirks implements QuirkStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  put(quirk: Omit<LearnedQuirk, 'learnedAt'>): Promise<void> {
    const { database, now, redact } = this.#context;
    return database.write(() => {
      const sql = `INSERT OR REPLACE INTO quirks (upstream, model, key, learned_at, value, evidence)
        VALUES (?, ?, ?, ?, ?, ?)`;
      const value = toJson(redactJson(quirk.value, redact));
      const evidence = redact(quirk.evidence);
      database.run(sql, [quirk.upstream, quirk.model, quirk.key, whole(now()), value, evidence]);
    }, 'relaxed');
  }

  list(): Promise<LearnedQuirk[]> {
    const { database } = this.#context;
    const sql = 'SELECT * FROM quirks ORDER BY upstream, model, key';
    return database.read(() =>
      database.all(sql).map((row) => ({
        upstream: text(row, 'upstream'),
        model: text(row, 'model'),
        key: text(row, 'key'),
        value: json<unknown>(row, 'value'),
        evidence: text(row, 'evidence'),
        learnedAt: number(row, 'learned_at'),
      })),
    );
  }
}
