import type { RuleBehaviourWire, RuleWire } from '../../../../src/server/console-api/wire/approvals.js';
import type { Tone } from '../../ui/badge.js';

export const BEHAVIOURS = ['allow', 'ask', 'deny'] as const satisfies readonly RuleBehaviourWire[];

export const BEHAVIOUR_TONES: Record<RuleBehaviourWire, Tone> = { allow: 'ok', ask: 'warn', deny: 'danger' };

/** `GET /api/rules` */
export interface RulesAnswer {
  mode: string;
  data: RuleWire[];
}

/** What a new rule begins with. */
export interface RuleDraft {
  rule: string;
  behaviour: RuleBehaviourWire;
}

export const NO_DRAFT: RuleDraft = { rule: '', behaviour: 'allow' };

export function matchesRule(rule: RuleWire, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return true;
  return [rule.rule, rule.behaviour, rule.created_by ?? '', rule.project ?? '', rule.session ?? ''].some(
    (text) => text.toLowerCase().includes(wanted),
  );
}
