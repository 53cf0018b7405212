/** The question about a call: by the call and the agent that made it, never by the name of a tool. */
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';

type Approvals = ReadonlyMap<string, ApprovalWire>;

const indexes = new WeakMap<Approvals, Map<string, ApprovalWire>>();

/** The one that waits, where there are several: a call that is asked about again has a new one. */
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
