import { randomUUID } from 'node:crypto';
import type { NewRule, Rule, RuleBehaviour, RuleQuery, RuleReach, RuleStore } from '../rules.js';
import { insertAudit } from './audit.js';
import type { Context } from './context.js';
import type { Database } from './database.js';
import { nextCount } from './leases.js';
import { Conditions } from './paging.js';
import { number, type Row, text, whole } from './rows.js';

const BEHAVIOURS: readonly RuleBehaviour[] = ['allow', 'ask', 'deny'];

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
      insertAudit(this.#context, {
        event: 'rule.revoked',
        by,
        principal: rule.createdBy,
        what: describeReach(rule),
        rule: rule.rule,
      });
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
  const added: Rule = { ...rule, id: randomUUID(), createdAt: whole(context.now()) };
  database.run(
    `INSERT INTO rules (id, rule, behaviour, scope, session, project, created_by, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      added.id,
      added.rule,
      added.behaviour,
      added.scope,
      'session' in added ? added.session : null,
      'project' in added ? added.project : null,
      added.createdBy,
      added.createdAt,
    ],
  );
  nextCount(database, 'rules');
  insertAudit(context, {
    event: 'rule.added',
    by: added.createdBy,
    principal: added.createdBy,
    ...('session' in added && { session: added.session }),
    what: describeReach(added),
    rule: added.rule,
  });
  return added;
}

/** Inside a transaction. */
export function dropSessionRules(database: Database, session: string): void {
  if (database.run('DELETE FROM rules WHERE session = ?', [session]) > 0) nextCount(database, 'rules');
}

function describeReach(rule: Rule): string {
  const place = 'project' in rule ? rule.project : 'session' in rule ? rule.session : '';
  return `${rule.behaviour} ${rule.scope} ${place}`.trimEnd();
}

function readRule(row: Row): Rule {
  return {
    id: text(row, 'id'),
    rule: text(row, 'rule'),
    behaviour: BEHAVIOURS.find((behaviour) => behaviour === row['behaviour']) ?? 'ask',
    ...readReach(row),
    createdBy: text(row, 'created_by'),
    createdAt: number(row, 'created_at'),
  };
}

function readReach(row: Row): RuleReach {
  const scope = text(row, 'scope');
  if (scope === 'once' || scope === 'session') return { scope, session: text(row, 'session') };
  if (scope === 'project') return { scope, project: text(row, 'project') };
  return { scope: 'everywhere' };
}
