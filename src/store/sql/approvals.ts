import type {
  Approval,
  ApprovalDecision,
  ApprovalStatus,
  ApprovalVerdict,
  NewApproval,
} from '../approvals.js';
import type { NewAuditEntry } from '../audit.js';
import type { Rule } from '../rules.js';
import {
  json,
  number,
  optionalJson,
  optionalNumber,
  type Row,
  type SqlValue,
  text,
  toJson,
  whole,
} from './rows.js';

const FINAL_STATES: readonly ApprovalStatus[] = ['allowed', 'denied', 'expired', 'cancelled', 'covered'];

/** How many are expired in one transaction. */
export const EXPIRE_BATCH = 100;

export const UNANSWERED: Omit<ApprovalDecision, 'at'> = {
  by: 'expiry',
  via: 'gateway',
  reason: 'Nobody answered in time.',
};

export type Settlement = { state: ApprovalStatus } & Omit<ApprovalDecision, 'at'>;

export const APPROVAL_COLUMNS = `id, session, principal, agent, tool_use_id, tool, digest, state,
  created_at, expires_at, input, describe, suggestions`;

export function approvalValues(approval: NewApproval, now: number): SqlValue[] {
  const { id, session, principal, agent = '', toolUseId, tool, digest, expiresAt } = approval;
  return [
    id,
    session,
    principal,
    agent,
    toolUseId,
    tool,
    digest,
    'pending',
    whole(now),
    expiresAt === undefined ? null : whole(expiresAt),
    toJson(approval.input),
    toJson(approval.describe),
    toJson(approval.suggestions),
  ];
}

/** What a person's verdict says of an approval, with the rules it made. */
export function settlementOf(verdict: ApprovalVerdict, made: readonly Rule[]): Settlement {
  if (verdict.state === 'cancelled' || verdict.state === 'covered') return verdict;
  const { rules: _, digest: __, ...decided } = verdict;
  return { ...decided, ...accountOf(made) };
}

/** The approval after a settlement, and its line in the audit log. */
export function settled(
  approval: Approval,
  settlement: Settlement,
  now: number,
): { after: Approval; decision: ApprovalDecision; entry: NewAuditEntry } {
  const { state, ...rest } = settlement;
  const decision: ApprovalDecision = { at: whole(now), ...rest };
  const entry = {
    ...aboutApproval(approval),
    event: `approval.${state}`,
    by: decision.by,
    what: approval.id,
    ...(decision.reason !== undefined && { why: decision.reason }),
    ...(decision.rule !== undefined && { rule: decision.rule }),
  };
  return { after: { ...approval, state, decision }, decision, entry };
}

/** Until when it waits after somebody extended it, and the line about it; none where it has no clock. */
export function extension(
  approval: Approval,
  expiresAt: number,
  by: string,
): { until: number; entry: NewAuditEntry } | undefined {
  if (approval.expiresAt === undefined) return undefined;
  const until = Math.max(approval.expiresAt, whole(expiresAt));
  const why = `until ${new Date(until).toISOString()}`;
  return { until, entry: { ...aboutApproval(approval), event: 'approval.extended', by, why } };
}

function accountOf(made: readonly Rule[]): Pick<ApprovalDecision, 'rule' | 'rules'> {
  if (made.length === 0) return {};
  return {
    rule: made.map(({ rule }) => rule).join(', '),
    rules: made.map(({ rule, scope, behaviour }) => ({ rule, scope, behaviour })),
  };
}

function aboutApproval({ principal, session, tool, toolUseId }: Approval) {
  return { principal, session, tool, toolUseId };
}

export function readApproval(row: Row): Approval {
  const agent = text(row, 'agent');
  const expiresAt = optionalNumber(row, 'expires_at');
  const usedAt = optionalNumber(row, 'used_at');
  const decision = optionalJson<ApprovalDecision>(row, 'decision');
  return {
    id: text(row, 'id'),
    session: text(row, 'session'),
    principal: text(row, 'principal'),
    ...(agent !== '' && { agent }),
    toolUseId: text(row, 'tool_use_id'),
    tool: text(row, 'tool'),
    input: json<unknown>(row, 'input'),
    describe: json<unknown>(row, 'describe'),
    suggestions: json<unknown>(row, 'suggestions'),
    digest: text(row, 'digest'),
    ...(expiresAt !== undefined && { expiresAt }),
    state: FINAL_STATES.find((state) => state === row['state']) ?? 'pending',
    createdAt: number(row, 'created_at'),
    ...(decision !== undefined && { decision }),
    ...(usedAt !== undefined && { usedAt }),
  };
}
