/**
 * From a settled approval to the verdict on the call that waited for it, and what the model reads when
 * a call does not run. Each message says who decided, or that no one did, and what to do next: a model
 * that reads "denied" for "no answer" gives up on what was never refused.
 */
import type { Approval, ApprovalStore } from '../../store/approvals.js';
import type { Decision, JudgedToolCall, Reason } from '../decision.js';
import type { GatedToolCall, Revision, Verdict, VerdictReason } from '../gate.js';
import type { RuleCache } from './rule-cache.js';

type Refused = Extract<Verdict, { allowed: false }>;

/** What decides in the gateway's own name, as `decision.by` has it. */
export const BY_RULE = 'rule';
export const BY_GATEWAY = 'gateway';
export const VIA_GATEWAY = 'gateway';

interface Conclusion {
  approvals: ApprovalStore;
  ruleCache: RuleCache;
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
      return allowOnce(conclusion);
    case 'denied': {
      if (!isByRule(approval)) return refuse('denied', deniedByPerson(call, approval), personOf(approval));
      const decision = by ?? (await conclusion.ruleCache.judge(call));
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
export async function forbidden(ruleCache: RuleCache, call: JudgedToolCall): Promise<Decision | undefined> {
  const decision = await ruleCache.judge(call);
  return decision.behaviour === 'deny' ? decision : undefined;
}

async function allowOnce({ approvals, ruleCache, call, approval, by }: Conclusion): Promise<Verdict> {
  const changed = approval.decision?.updatedInput;
  const revised = changed === undefined ? undefined : await reviseToolCall(call, changed);
  if (revised !== undefined && 'problem' in revised) {
    return refuse('denied', unusableChange(call, approval, revised.problem), personOf(approval));
  }
  const run = revised?.call ?? call;
  // Also for what was not changed: rules may have been made since it was asked.
  const denial = await forbidden(ruleCache, run);
  if (denial !== undefined) return refuse('denied', deniedByRules(call, denial), denial.because);
  if (call.signal.aborted) return cancelled(call);
  // A rule that covered it says nothing of the tool as it is now.
  if (approval.state === 'allowed') await ruleCache.pins?.approve(call);
  const because =
    approval.state === 'covered' ? await ruleOf(ruleCache, run, approval, by) : personOf(approval);
  if (!isKeptForItsTurn(call, because) && !(await approvals.use(approval.id)))
    return refuse('cancelled', usedBefore(call), { kind: 'used' });
  return {
    allowed: true,
    input: run.input,
    because,
    approval: approval.id,
    ...(revised === undefined ? {} : { describe: run.describe }),
  };
}

/** Rules are judged anew when the turn of the call comes; all but those that were used up for it alone. */
export function isKeptForItsTurn({ ahead }: Pick<GatedToolCall, 'ahead'>, because: VerdictReason): boolean {
  if (ahead !== true) return false;
  return because.kind === 'rule'
    ? because.source === 'once'
    : because.kind === 'person' || because.kind === 'expiry';
}

export function isByRule({ decision }: Approval): boolean {
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
  ruleCache: RuleCache,
  call: GatedToolCall,
  approval: Approval,
  by: Decision | undefined,
): Promise<Reason> {
  if (by !== undefined) return by.because;
  const now = await ruleCache.judge(call);
  if (now.behaviour === 'allow') return now.because;
  return { kind: 'rule', rule: approval.decision?.rule ?? '', source: 'session', part: call.tool };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const GO_ON = 'Do not try it again now: go on without it, or tell the user what is needed.';

/** For people: wherever a rule is offered for a question that forbids it. */
export const NO_RULE_OF_IT =
  'no rule can be made of this question: the engine says that it would allow more than what is asked. Allow it this once, or deny it.';

/** By a rule, the mode or a protection. */
export function deniedByRules(call: Pick<GatedToolCall, 'tool'>, decision: Decision): string {
  return `${call.tool} was not run: ${sentence(decision.message)} That is a rule, and trying again changes nothing. Reach the goal another way, or tell the user which permission is missing.`;
}

function deniedByPerson(call: GatedToolCall, { decision }: Approval): string {
  const who = decision === undefined || decision.by === '' ? 'The user' : `The user "${decision.by}"`;
  const said =
    decision?.reason === undefined || decision.reason === ''
      ? ''
      : ` They said: ${sentence(decision.reason)}`;
  if (call.question)
    return `${who} declined to answer.${said} Go on without an answer, or stop and say what you need.`;
  return `${who} refused this call to ${call.tool}; it was not run.${said} Do not try the same again: do what they said, find another way, or ask them.`;
}

function unanswered(call: GatedToolCall, approval: Approval): string {
  const waited = duration((approval.decision?.at ?? approval.createdAt) - approval.createdAt);
  return `${call.tool} was not run: nobody answered the request for approval within ${waited}. That is not a refusal. ${GO_ON}`;
}

export function nobodyThere(call: GatedToolCall, decision: Decision): string {
  if (call.question) {
    return 'The question was not asked: nobody is connected who could answer it. That is not an answer. Go on with the most sensible assumption and name it, or stop and put the question in your reply.';
  }
  const [suggestion] = decision.suggestions;
  const rule =
    suggestion === undefined
      ? 'a rule that covers it'
      : `the rule ${JSON.stringify(suggestion.rule)} (${suggestion.covers})`;
  return [
    `${call.tool} was not run: it needs the approval of a person, and nobody is connected who could give it.`,
    `That is not a refusal. ${sentence(decision.message)}`,
    `To allow it, the user can add ${rule} to permissions.allow in toolgate.yaml, or open the console (or poll GET /api/approvals) and have it tried again.`,
    GO_ON,
  ].join(' ');
}

function withdrawn(call: GatedToolCall, why?: string): string {
  const reason =
    why === undefined || why === '' ? 'the request was stopped before anyone answered.' : sentence(why);
  return `${call.tool} was not run: ${reason} That is not a refusal.`;
}

function stopping(call: GatedToolCall): string {
  return `${call.tool} was not run: the gateway is stopping. Its request for approval stays open and can be answered after the restart.`;
}

function usedBefore(call: GatedToolCall): string {
  return `${call.tool} was not run again: the approval was for one run, and that has begun already. Check what it did before anything else.`;
}

function unusableChange(call: GatedToolCall, approval: Approval, problem: string): string {
  const who = approval.decision?.by ?? 'The user';
  return `${call.tool} was not run: "${who}" allowed it with changed input, but that cannot be run: ${sentence(problem)} Ask them, or make the call again.`;
}

/** `90 s`, `30 minutes`, `2 hours`. */
function duration(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.max(0, Math.round(ms / 1000))} s`;
  if (ms < 2 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} minutes`;
  return `${Math.round(ms / HOUR_MS)} hours`;
}

export function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
