/** Rules as `/api` shows them. */
import type { Rule } from '../../store/rules.js';
import type { RuleWire } from './wire/approvals.js';

export function ruleToWire(rule: Rule): RuleWire {
  return {
    id: rule.id,
    rule: rule.rule,
    behaviour: rule.behaviour,
    source: rule.scope,
    scope: rule.scope,
    ...('session' in rule ? { session: rule.session } : {}),
    ...('project' in rule ? { project: rule.project } : {}),
    created_by: rule.createdBy,
    created_at: new Date(rule.createdAt).toISOString(),
  };
}
