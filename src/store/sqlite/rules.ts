import type { NewRule, Rule, RuleQuery, RuleStore } from '../rules.js';
import { Conditions } from '../sql/paging.js';
import { number } from '../sql/rows.js';
import { newRule, RULE_COLUMNS, readRule, ruleAdded, ruleRevoked, ruleValues } from '../sql/rules.js';
import { insertAudit } from './audit.js';
import type { Context } from './context.js';
import type { Database } from './database.js';
import { nextCount } from './leases.js';

export class SqliteRules implements RuleStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  add(rule: NewRule): Promise<Rule> {
    return this.#context.database.write(() => insertRule(this.#context, rule));
  }

  list(query: RuleQuery = {}): Promise<Rule[]> {
    const { database } = this.#context;
    const where = new Conditions();
    where.equal('created_by', query.createdBy);
    if (query.appliesTo !== undefined) {
      const { session, project } = query.appliesTo;
      // No session or project is the empty text: no rule has that.
      where.add(`(scope = 'everywhere' OR session = ? OR project = ?)`, session ?? '', project ?? '');
    }
    const sql = `SELECT * FROM rules WHERE ${where} ORDER BY number`;
    return database.read(() => database.all(sql, where.params).map(readRule));
  }

  revoke(id: string, by: string): Promise<Rule | undefined> {
    const { database } = this.#context;
    return database.write(() => {
      const row = database.get('DELETE FROM rules WHERE id = ? RETURNING *', [id]);
      if (row === undefined) return undefined;
      const rule = readRule(row);
      nextCount(database, 'rules');
      insertAudit(this.#context, ruleRevoked(rule, by));
      return rule;
    });
  }

  revision(): Promise<number> {
    const { database } = this.#context;
    const sql = `SELECT value FROM counters WHERE name = 'rules'`;
    return database.read(() => number(database.get(sql) ?? {}, 'value'));
  }
}

/** Inside a transaction. */
export function insertRule(context: Context, rule: NewRule): Rule {
  const { database } = context;
  const added = newRule(rule, context.now());
  database.run(`INSERT INTO rules (${RULE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, ruleValues(added));
  nextCount(database, 'rules');
  insertAudit(context, ruleAdded(added));
  return added;
}

/** Inside a transaction. */
export function dropSessionRules(database: Database, session: string): void {
  if (database.run('DELETE FROM rules WHERE session = ?', [session]) > 0) nextCount(database, 'rules');
}
