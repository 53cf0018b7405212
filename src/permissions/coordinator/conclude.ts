/** From a settled approval to the verdict on the call that waited for it. */
import type { Approval, ApprovalStore } from '../../store/approvals.js';
import type { Decision, JudgedToolCall, Reason } from '../decision.js';
import type { GatedToolCall, Revision, Verdict, VerdictReason } from '../gate.js';
import {
  deniedByPerson,
  deniedByRules,
  stopping,
  unanswered,
  unusableChange,
  usedBefore,
  withdrawn,
} from './messages.js';
import type { RuleCache } from './rule-cache.js';

type Refused = Extract<Verdict, { allowed: false }>;

/** What decides in the gateway's own name, as `decision.by` has it. */
export const BY_RULE = 'rule';
export const BY_GATEWAY = 'gateway';
export const VIA_GATEWAY = 'gateway';

interface Conclusion {
  approvals: ApprovalStore;
  book: RuleCache;
  call: GatedToolCall;
  approval: Approval;
  /** The judgement of rules that settled it, where it is known. */
  by?: Decision | undefined;
}

export async function conclude(conclusion: Conclusion): Promise<Verdict> {
  const { call, approval, by } = conclusion;
  switch (approval.state) {
    case 'allowed':
    case 'covered':
      return goAhead(conclusion);
    case 'denied': {
      if (!isByRule(approval)) return refuse('denied', deniedByPerson(call, approval), personOf(approval));
      const decision = by ?? (await conclusion.book.judge(call));
      return refuse('denied', deniedByRules(call, decision), decision.because);
    }
    case 'expired':
      return refuse('expired', unanswered(call, approval), { kind: 'expiry' });
    case 'cancelled':
    case 'pending':
      return cancelled(call, approval.decision?.reason);
  }
}

export function cancelled(call: GatedToolCall, why?: string): Refused {
  return refuse('cancelled', withdrawn(call, why), { kind: 'abort' });
}

export function closing(call: GatedToolCall): Refused {
  return refuse('cancelled', stopping(call), { kind: 'closing' });
}

export function refuse(outcome: Refused['outcome'], message: string, because: VerdictReason): Refused {
  return { allowed: false, outcome, message, because };
}

/** The call with the input that a person gave it; or why it cannot be run. */
export async function reviseToolCall(
  call: GatedToolCall,
  input: unknown,
): Promise<{ call: GatedToolCall; revision: Revision } | { problem: string }> {
  const revision = await call.revise(input);
  if ('problem' in revision) return revision;
  const { input: checked, readOnly, effects, describe } = revision;
  return { call: { ...call, input: checked, readOnly, effects, describe }, revision };
}

/** Why the rules deny it in spite of a person's consent: that overrides `ask`, never `deny`. */
export async function forbidden(book: RuleCache, call: JudgedToolCall): Promise<Decision | undefined> {
  const decision = await book.judge(call);
  return decision.behaviour === 'deny' ? decision : undefined;
}

async function goAhead({ approvals, book, call, approval, by }: Conclusion): Promise<Verdict> {
  const changed = approval.decision?.updatedInput;
  const revised = changed === undefined ? undefined : await reviseToolCall(call, changed);
  if (revised !== undefined && 'problem' in revised) {
    return refuse('denied', unusableChange(call, approval, revised.problem), personOf(approval));
  }
  const run = revised?.call ?? call;
  // Also for what was not changed: rules may have been made since it was asked.
  const denial = await forbidden(book, run);
  if (denial !== undefined) return refuse('denied', deniedByRules(call, denial), denial.because);
  if (call.signal.aborted) return cancelled(call);
  if (!(await approvals.use(approval.id))) return refuse('cancelled', usedBefore(call), { kind: 'used' });
  return {
    allowed: true,
    input: run.input,
    because: approval.state === 'covered' ? await ruleOf(book, run, approval, by) : personOf(approval),
    approval: approval.id,
    ...(revised === undefined ? {} : { describe: run.describe }),
  };
}

function isByRule({ decision }: Approval): boolean {
  return decision?.via === VIA_GATEWAY && decision.by === BY_RULE;
}

function personOf({ decision }: Approval): VerdictReason {
  const { by = '', via = '', reason, rule } = decision ?? {};
  return {
    kind: 'person',
    by,
    via,
    ...(reason === undefined ? {} : { reason }),
    ...(rule === undefined ? {} : { rule }),
  };
}

/** The rule that covered it; it may be gone by now, and held when it was applied. */
async function ruleOf(
  book: RuleCache,
  call: GatedToolCall,
  approval: Approval,
  by: Decision | undefined,
): Promise<Reason> {
  if (by !== undefined) return by.because;
  const now = await book.judge(call);
  if (now.behaviour === 'allow') return now.because;
  return { kind: 'rule', rule: approval.decision?.rule ?? '', source: 'session', part: call.tool };
}
