/** Questions to a person, and rules, as `/api` and `/api/events` show them. */
import * as z from 'zod';
import type { Approval } from '../../../permissions/approvals.js';
import { toolUseIdOf } from '../../../permissions/coordinator/identity.js';
import { readAsked, withoutAsked } from '../../../permissions/coordinator/shown.js';
import type { AskHints } from '../../../permissions/decision.js';
import type { Rule } from '../../../store/rules.js';
import type {
  ApprovalWire,
  DescriptionWire,
  HintsWire,
  RuleWire,
  SuggestionWire,
} from '../wire/approvals.js';

const description = z.looseObject({ title: z.string(), kind: z.string() });

const suggestions = z.array(
  z.looseObject({
    rule: z.string(),
    covers: z.string(),
    source: z.enum(['gateway', 'engine']).catch('gateway'),
    scope: z.enum(['once', 'session', 'project', 'everywhere']).nullable().catch(null),
  }),
);

export function approvalToWire(approval: Approval): ApprovalWire {
  const { id, session, tool, input, digest, state, decision } = approval;
  const { why, risks, place, question, hints } = readAsked(approval.describe);
  const describe = describeToWire(withoutAsked(approval.describe), tool);
  const label = describe['agent'];
  return {
    id,
    session,
    key: approval.principal,
    agent: approval.agent ?? null,
    agent_label: typeof label === 'string' ? label : null,
    tool_use_id: toolUseIdOf(approval.toolUseId),
    tool,
    input,
    describe,
    why,
    risks,
    cwd: place.cwd,
    project: place.root,
    question,
    suggestions: suggestionsToWire(approval.suggestions),
    hints: hintsToWire(hints),
    digest,
    state,
    created_at: new Date(approval.createdAt).toISOString(),
    expires_at: time(approval.expiresAt),
    used_at: time(approval.usedAt),
    decision: decision === undefined ? null : { ...decision, at: new Date(decision.at).toISOString() },
  };
}

/** What the store keeps is JSON; what cannot be read is shown as the bare call. */
export function describeToWire(described: unknown, tool: string): DescriptionWire {
  return description.safeParse(described).data ?? { title: tool, kind: 'other' };
}

export function suggestionsToWire(suggested: unknown): SuggestionWire[] {
  const read = suggestions.safeParse(suggested).data ?? [];
  return read.map(({ rule, covers, source, scope }) => ({ rule, behaviour: 'allow', covers, source, scope }));
}

function hintsToWire(hints: AskHints): HintsWire {
  const { mcpServer } = hints;
  return {
    default_to_no: hints.defaultToNo ?? false,
    suppress_always: hints.suppressAlways ?? false,
    blocked_path: hints.blockedPath ?? null,
    reason: hints.reason ?? null,
    title: hints.title ?? null,
    description: hints.description ?? null,
    mcp_server: mcpServer === undefined ? null : { name: mcpServer.name, source: mcpServer.source ?? null },
  };
}

function time(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

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
