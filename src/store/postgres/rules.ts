import type { NewRule, Rule, RuleQuery, RuleStore } from '../rules.js';
import { Conditions } from '../sql/paging.js';
import { number } from '../sql/rows.js';
import { newRule, RULE_COLUMNS, readRule, ruleAdded, ruleRevoked, ruleValues } from '../sql/rules.js';
import { insertAudit } from './audit.js';
import type { Context } from './context.js';
import { insertRows, type Queries } from './database.js';

export class PostgresRules implements RuleStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async add(rule: NewRule): Promise<Rule> {
    const added = newRule(rule, this.#context.now());
    await this.#context.database.transaction((queries) => insertRules(this.#context, queries, [added]));
    this.#context.notifier.wake();
    return added;
  }

  async list(query: RuleQuery = {}): Promise<Rule[]> {
    const where = new Conditions();
    where.equal('created_by', query.createdBy);
    if (query.appliesTo !== undefined) {
      const { session, project } = query.appliesTo;
      // No session or project is the empty text: no rule has that.
      where.add(`(scope = 'everywhere' OR session = ? OR project = ?)`, session ?? '', project ?? '');
    }
    const sql = `SELECT * FROM rules WHERE ${where} ORDER BY number`;
    return (await this.#context.database.all(sql, where.params)).map(readRule);
  }

  async revoke(id: string, by: string): Promise<Rule | undefined> {
    const revoked = await this.#context.database.transaction(async (queries) => {
      const row = await queries.get('DELETE FROM rules WHERE id = ? RETURNING *', [id]);
      if (row === undefined) return undefined;
      const rule = readRule(row);
      await countChange(queries, 'rules');
      await insertAudit(this.#context, queries, [ruleRevoked(rule, by)]);
      return rule;
    });
    if (revoked !== undefined) this.#context.notifier.wake();
    return revoked;
  }

  async revision(): Promise<number> {
    const row = await this.#context.database.get(`SELECT value FROM counters WHERE name = 'rules'`);
    return number(row ?? {}, 'value');
  }
}

/** Inside a transaction. */
export async function insertRules(context: Context, queries: Queries, rules: readonly Rule[]): Promise<void> {
  if (rules.length === 0) return;
  await insertRows(queries, `rules (${RULE_COLUMNS})`, rules.map(ruleValues));
  await countChange(queries, 'rules');
  await insertAudit(context, queries, rules.map(ruleAdded));
}

/** Inside a transaction. */
export async function dropSessionRules(queries: Queries, session: string): Promise<void> {
  const dropped = await queries.run('DELETE FROM rules WHERE session = ?', [session]);
  if (dropped > 0) await countChange(queries, 'rules');
}

/** Inside a transaction. The revision of what others keep in memory. */
export async function countChange(queries: Queries, counter: 'rules' | 'keys'): Promise<void> {
  await queries.run('UPDATE counters SET value = value + 1 WHERE name = ?', [counter]);
}
