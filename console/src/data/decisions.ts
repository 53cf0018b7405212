/** A person's decisions on their way to the gateway: told until the gateway has answered. */
import type { AnswerWire, ApprovalWire, DecidedWire } from '../../../src/server/wire/approvals.js';
import { post } from './api.js';

export type DecisionResult =
  | { kind: 'decided'; decided: DecidedWire }
  /** Somebody else was first, or its time was over: `approval` is how it stands. */
  | { kind: 'already' | 'expired' | 'changed'; approval: ApprovalWire; message: string }
  /** Nothing was decided: `message` says why. */
  | { kind: 'refused'; message: string; param: string | null };

/** The digest of what is shown goes along. Never rejects. */
export async function decide(
  approval: ApprovalWire,
  answer: Omit<AnswerWire, 'digest'>,
): Promise<DecisionResult> {
  const decided = await post<DecidedWire>(`/api/approvals/${encodeURIComponent(approval.id)}`, {
    ...answer,
    digest: approval.digest,
  });
  return { kind: 'decided', decided };
}

export async function extend(approval: ApprovalWire): Promise<DecisionResult> {
  const extended = await post<DecidedWire>(`/api/approvals/${encodeURIComponent(approval.id)}/extend`);
  return { kind: 'decided', decided: extended };
}
