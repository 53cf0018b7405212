/**
 * What the model reads when a call does not run. Each message says who decided, or that no one did,
 * and what to do next: a model that reads "denied" for "no answer" gives up on what was never refused.
 */
import type { Approval } from '../../store/approvals.js';
import type { Decision } from '../decision.js';
import type { GatedToolCall } from '../gate.js';

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

export function deniedByPerson(call: GatedToolCall, { decision }: Approval): string {
  const who = decision === undefined || decision.by === '' ? 'The user' : `The user "${decision.by}"`;
  const said =
    decision?.reason === undefined || decision.reason === ''
      ? ''
      : ` They said: ${sentence(decision.reason)}`;
  if (call.question)
    return `${who} declined to answer.${said} Go on without an answer, or stop and say what you need.`;
  return `${who} refused this call to ${call.tool}; it was not run.${said} Do not try the same again: do what they said, find another way, or ask them.`;
}

export function unanswered(call: GatedToolCall, approval: Approval): string {
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

export function withdrawn(call: GatedToolCall, why?: string): string {
  const reason =
    why === undefined || why === '' ? 'the request was stopped before anyone answered.' : sentence(why);
  return `${call.tool} was not run: ${reason} That is not a refusal.`;
}

export function stopping(call: GatedToolCall): string {
  return `${call.tool} was not run: the gateway is stopping. Its request for approval stays open and can be answered after the restart.`;
}

export function usedBefore(call: GatedToolCall): string {
  return `${call.tool} was not run again: the approval was for one run, and that has begun already. Check what it did before anything else.`;
}

export function unusableChange(call: GatedToolCall, approval: Approval, problem: string): string {
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
