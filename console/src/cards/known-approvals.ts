/** Questions of the conversation that were decided before the page was open. */
import { createContext, useContext } from 'react';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { approvalOf } from '../data/reducer/approvals.js';
import type { ToolCard } from '../data/reducer/view.js';
import { useConsole } from '../data/store.js';

export const KnownApprovalsContext = createContext<ReadonlyMap<string, ApprovalWire>>(new Map());

/** The question about a call, as the events told it, or as it was fetched with the conversation. */
export function useApprovalOf(
  card: ToolCard,
  session: string,
  agent: string | null,
): ApprovalWire | undefined {
  const heard = useConsole((state) => approvalOf(state.approvals, session, card, agent));
  const fetched = useContext(KnownApprovalsContext).get(card.approval ?? '');
  return heard ?? (fetched?.state === 'pending' ? undefined : fetched);
}
