/** Pending approvals: their count for the badge, and their announcement for screen readers. */
import { useEffect, useMemo, useRef } from 'react';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { useConsole } from '../data/store.js';
import { useText } from '../text/language.js';
import { announce } from '../ui/announce.js';
import { makeVisible } from '../ui/visible.js';
import { useLater } from './later.js';
import { waitingStrings } from './waiting-strings.js';

/** Pending approvals, the oldest first. */
function useWaitingApprovals(): readonly ApprovalWire[] {
  const approvals = useConsole((state) => state.approvals);
  return useMemo(
    () =>
      [...approvals.values()]
        .filter(({ state }) => state === 'pending')
        .toSorted((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0)),
    [approvals],
  );
}

/** Without those that were put aside. */
export function useWaitingCount(): number {
  const waiting = useWaitingApprovals();
  const later = useLater();
  return waiting.filter(({ id }) => !later.has(id)).length;
}

/** Announces each approval once. To be used once in the page, by the shell. */
export function useApprovalAnnouncements(): void {
  const waiting = useWaitingApprovals();
  const text = useText(waitingStrings);
  const announced = useRef(new Set<string>());
  useEffect(() => {
    const fresh = waiting.filter(({ id }) => !announced.current.has(id));
    for (const { id } of fresh) announced.current.add(id);
    const [first] = fresh;
    if (first === undefined) return;
    announce(fresh.length === 1 ? text.asks(makeVisible(first.describe.title)) : text.ask(fresh.length));
  }, [waiting, text]);
}
