/** Questions by their ids. Every state but `pending` is final, whatever comes late. */
import type { ApprovalWire } from '../../../../src/server/console-api/wire/approvals.js';

type Approvals = ReadonlyMap<string, ApprovalWire>;

/** Decided ones that a page remembers, the newest. */
const DECIDED_KEPT = 500;

export function withApproval(approvals: Approvals, approval: ApprovalWire): Approvals {
  const known = approvals.get(approval.id);
  const merged = known === undefined ? approval : mergeApproval(known, approval);
  if (merged === known) return approvals;
  const next = new Map(approvals);
  // Behind all others: in the order in which they were decided.
  if (merged.state !== 'pending') next.delete(merged.id);
  next.set(merged.id, merged);
  return merged.state === 'pending' ? next : bounded(next);
}

/** All that wait, and what is remembered of the decided ones. */
export function withPending(approvals: Approvals, pending: readonly ApprovalWire[]): Approvals {
  const next = new Map([...approvals].filter(([, { state }]) => state !== 'pending'));
  for (const approval of pending) {
    const known = approvals.get(approval.id);
    next.set(approval.id, known === undefined ? approval : mergeApproval(known, approval));
  }
  return next;
}

export function mergeApproval(known: ApprovalWire, told: ApprovalWire): ApprovalWire {
  if (known.state !== 'pending') {
    if (told.state === 'pending' || told.used_at === null || known.used_at !== null) return known;
    return { ...known, used_at: told.used_at };
  }
  if (told.state !== 'pending') return told;
  // One that was on its way while another extended it does not take the time back.
  return { ...told, expires_at: later(known.expires_at, told.expires_at) };
}

/** Null is without end. */
function later(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return null;
  return Date.parse(a) > Date.parse(b) ? a : b;
}

function bounded(approvals: Map<string, ApprovalWire>): Map<string, ApprovalWire> {
  let decided = 0;
  for (const { state } of approvals.values()) if (state !== 'pending') decided += 1;
  for (const [id, { state }] of approvals) {
    if (decided <= DECIDED_KEPT) break;
    if (state === 'pending') continue;
    approvals.delete(id);
    decided -= 1;
  }
  return approvals;
}
