import { randomUUID } from 'node:crypto';
import type { NewAuditEntry } from '../audit.js';
import type { NewRule, Rule, RuleBehaviour, RuleReach } from '../rules.js';
import { number, type Row, type SqlValue, text, whole } from './rows.js';

const BEHAVIOURS: readonly RuleBehaviour[] = ['allow', 'ask', 'deny'];

/** A rule as it is added at this time. */
export function newRule(rule: NewRule, now: number): Rule {
  return { ...rule, id: randomUUID(), createdAt: whole(now) };
}

export const RULE_COLUMNS = 'id, rule, behaviour, scope, session, project, created_by, created_at';

export function ruleValues(rule: Rule): SqlValue[] {
  return [
    rule.id,
    rule.rule,
    rule.behaviour,
    rule.scope,
    'session' in rule ? rule.session : null,
    'project' in rule ? rule.project : null,
    rule.createdBy,
    rule.createdAt,
  ];
}

export function ruleAdded(rule: Rule): NewAuditEntry {
  return {
    event: 'rule.added',
    by: rule.createdBy,
    principal: rule.createdBy,
    ...('session' in rule && { session: rule.session }),
    what: describeReach(rule),
    rule: rule.rule,
  };
}

export function ruleRevoked(rule: Rule, by: string): NewAuditEntry {
  return { event: 'rule.revoked', by, principal: rule.createdBy, what: describeReach(rule), rule: rule.rule };
}

function describeReach(rule: Rule): string {
  const place = 'project' in rule ? rule.project : 'session' in rule ? rule.session : '';
  return `${rule.behaviour} ${rule.scope} ${place}`.trimEnd();
}

export function readRule(row: Row): Rule {
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
