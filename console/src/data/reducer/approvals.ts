/** Questions by their ids. Every state but `pending` is final, whatever comes late. */
import type { ApprovalWire } from '../../../../src/server/console-api/wire/approvals.js';

type Approvals = ReadonlyMap<string, ApprovalWire>;

/** Decided approvals that a page remembers, the newest ones. */
const DECIDED_KEPT = 500;

export function withApproval(approvals: Approvals, approval: ApprovalWire): Approvals {
  const known = approvals.get(approval.id);
  const merged = known === undefined ? approval : mergeApproval(known, approval);
  if (merged === known) return approvals;
  const next = new Map(approvals);
  // At the end: in the order in which they were decided.
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

export function mergeApproval(known: ApprovalWire, received: ApprovalWire): ApprovalWire {
  if (known.state !== 'pending') {
    if (received.state === 'pending' || received.used_at === null || known.used_at !== null) return known;
    return { ...known, used_at: received.used_at };
  }
  if (received.state !== 'pending') return received;
  // A late event must not undo an extension.
  return { ...received, expires_at: later(known.expires_at, received.expires_at) };
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

const indexes = new WeakMap<Approvals, Map<string, ApprovalWire>>();

/**
 * The approval of a call, by the call and the agent that made it, never by the name of a tool. A call
 * that is asked about again has several; the pending one wins.
 */
export function approvalOf(
  approvals: Approvals,
  session: string,
  call: { id: string },
  agent: string | null,
): ApprovalWire | undefined {
  let index = indexes.get(approvals);
  if (index === undefined) {
    index = indexOf(approvals);
    indexes.set(approvals, index);
  }
  return index.get(keyOf(session, call.id, agent));
}

function indexOf(approvals: Approvals): Map<string, ApprovalWire> {
  const index = new Map<string, ApprovalWire>();
  for (const approval of approvals.values()) {
    const key = keyOf(approval.session, approval.tool_use_id, approval.agent);
    const known = index.get(key);
    if (known === undefined || comesBefore(approval, known)) index.set(key, approval);
  }
  return index;
}

function comesBefore(a: ApprovalWire, b: ApprovalWire): boolean {
  if ((a.state === 'pending') !== (b.state === 'pending')) return a.state === 'pending';
  return a.created_at > b.created_at;
}

function keyOf(session: string, call: string, agent: string | null): string {
  return JSON.stringify([session, call, agent]);
}
