/**
 * The inbox: pending approvals, and those decided while it was open, which keep their position. The
 * one that a link named is there however it stands.
 */
import { useMemo, useRef } from 'react';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { useConsole } from '../data/store.js';
import { useLater } from './later.js';

export interface InboxGroup {
  session: string;
  approvals: ApprovalWire[];
}

export interface InboxView {
  groups: InboxGroup[];
  aside: { approval: ApprovalWire; until: number }[];
  waiting: number;
}

export function useInbox(linked: string | undefined): InboxView {
  const approvals = useConsole((state) => state.approvals);
  const later = useLater();
  const seen = useRef(new Set<string>());
  return useMemo(() => {
    for (const { id, state } of approvals.values())
      if (state === 'pending' || id === linked) seen.current.add(id);
    const shown = [...approvals.values()].filter(({ id }) => seen.current.has(id)).toSorted(byAge);
    const isAside = ({ id, state }: ApprovalWire) => state === 'pending' && id !== linked && later.has(id);
    const rest = shown.filter((approval) => !isAside(approval));
    return {
      groups: grouped(rest),
      aside: shown.filter(isAside).map((approval) => ({ approval, until: later.get(approval.id) ?? 0 })),
      waiting: rest.filter(({ state }) => state === 'pending').length,
    };
  }, [approvals, later, linked]);
}

function byAge(a: ApprovalWire, b: ApprovalWire): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** Groups in the order of their oldest. */
function grouped(approvals: readonly ApprovalWire[]): InboxGroup[] {
  const groups = new Map<string, InboxGroup>();
  for (const approval of approvals) {
    const group = groups.get(approval.session);
    if (group === undefined)
      groups.set(approval.session, { session: approval.session, approvals: [approval] });
    else group.approvals.push(approval);
  }
  return [...groups.values()];
}
