import { redactJson } from '../json.js';
import { readQuirk } from '../sql/quirks.js';
import { toJson, whole } from '../sql/rows.js';
import type { LearnedQuirk, QuirkStore } from '../store.js';
import type { Context } from './context.js';

export class PostgresQuirks implements QuirkStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async put(quirk: Omit<LearnedQuirk, 'learnedAt'>): Promise<void> {
    const { database, now, redact } = this.#context;
    const sql = `INSERT INTO quirks (upstream, model, key, learned_at, value, evidence) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (upstream, model, key) DO UPDATE SET number = DEFAULT,
        learned_at = excluded.learned_at, value = excluded.value, evidence = excluded.evidence`;
    const value = toJson(redactJson(quirk.value, redact));
    const { upstream, model, key, evidence } = quirk;
    await database.run(sql, [upstream, model, key, whole(now()), value, redact(evidence)]);
  }

  async list(): Promise<LearnedQuirk[]> {
    const rows = await this.#context.database.all('SELECT * FROM quirks ORDER BY upstream, model, key');
    return rows.map(readQuirk);
  }
}
