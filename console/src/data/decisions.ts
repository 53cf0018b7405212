/** A person's decisions on their way to the gateway: retried until the gateway has answered. */
import type { AnswerWire, ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { client } from './page.js';
import type { DecisionResult } from './pending-decisions.js';

export type { DecisionResult } from './pending-decisions.js';

/**
 * Sends the digest of what is shown along. Never rejects: without a network it retries until there is
 * an answer, or the events report the outcome. A second call while one is pending shares it.
 */
export function decide(approval: ApprovalWire, answer: Omit<AnswerWire, 'digest'>): Promise<DecisionResult> {
  return client.decisions.decide(approval, answer);
}

/** More time to decide. Never rejects. */
export function extend(approval: ApprovalWire): Promise<DecisionResult> {
  return client.decisions.extend(approval);
}
