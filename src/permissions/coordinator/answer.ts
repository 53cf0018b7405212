/** A person's answer: checked, written together with the rule it makes, and published. */
import { ruleProblem } from '../../config/rule-syntax.js';
import type { Approval, DecideOutcome, ApprovalVerdict as StoredVerdict } from '../../store/approvals.js';
import { digestOf } from '../../store/json.js';
import type { NewRule, Rule, RuleReach } from '../../store/rules.js';
import type { AnsweredRule, AnswerOutcome, PersonAnswer } from '../approvals.js';
import type { GatedToolCall } from '../gate.js';
import type { ApprovalState } from './approval-state.js';
import { forbidden, NO_RULE_OF_IT, reviseToolCall, sentence } from './conclude.js';
import type { Rejudger } from './rejudger.js';
import { readAsked } from './shown.js';

type Invalid = Extract<AnswerOutcome, { outcome: 'invalid' }>;
type Satisfaction = NonNullable<Extract<AnswerOutcome, { outcome: 'decided' }>['satisfies']>;

const NOTHING_SETTLED = { released: [], refused: [] } as const;

export async function decideApproval(
  approvalState: ApprovalState,
  rejudger: Rejudger,
  id: string,
  answer: PersonAnswer,
): Promise<AnswerOutcome> {
  const asked = await approvalState.approvals.get(id);
  if (asked === undefined) return { outcome: 'unknown' };
  const call = approvalState.waiting.find(id)?.call;
  // A person who is too late, or saw something else, learns that, not what is wrong with the answer.
  const counts = asked.state === 'pending' && asked.digest === answer.digest;
  const problem = counts ? await problemOf(approvalState, asked, answer, call) : undefined;
  if (problem !== undefined) return problem;
  const outcome = await approvalState.approvals.decide(id, toStored(asked, answer));
  if (outcome.outcome === 'unknown' || outcome.outcome === 'mismatch') return outcome;
  // Before the call runs on, perhaps on another node: its like must find the tool pinned as it was shown.
  if (outcome.outcome === 'decided' && answer.decision === 'allow') {
    const { definition } = readAsked(asked.describe);
    await approvalState.ruleCache.pins?.approve({ ...asked, definition }, outcome.rules);
  }
  approvalState.settle(outcome.approval);
  if (outcome.outcome !== 'decided') return (await repeated(approvalState, outcome, answer)) ?? outcome;
  const { approval, rules } = outcome;
  const [first] = rules;
  if (first === undefined) return { outcome: 'decided', approval, rules, ...NOTHING_SETTLED };
  for (const rule of rules) approvalState.emitRule({ type: 'added', rule });
  const settled = await rejudger.rejudge();
  const satisfies = call === undefined ? undefined : await satisfaction(approvalState, call, first.behaviour);
  return {
    outcome: 'decided',
    approval,
    rules,
    ...settled,
    ...(satisfies === undefined ? {} : { satisfies }),
  };
}

/** What is wrong with a rule, as a sentence. */
export function problemOfRule({
  rule,
  scope,
  behaviour,
}: Pick<NewRule, 'rule' | 'scope' | 'behaviour'>): string | undefined {
  const problem = ruleProblem(rule);
  if (problem !== undefined) return sentence(problem);
  if (scope === 'once' && behaviour !== 'allow') {
    return 'expected the behaviour `allow` with the scope `once`: a rule that is used up can only let one call through.';
  }
  return undefined;
}

async function problemOf(
  approvalState: ApprovalState,
  asked: Approval,
  answer: PersonAnswer,
  call: GatedToolCall | undefined,
): Promise<Invalid | undefined> {
  for (const rule of rulesIn(answer)) {
    const problem = ruleProblem(rule.rule) ?? reachProblem(asked, rule);
    if (problem !== undefined) return invalid('rule', problem);
  }
  const changed = changedInput(asked, answer);
  // Nobody waits for it here (a restart, another node): it is checked when the call is asked again.
  if (changed === undefined || call === undefined) return undefined;
  const revised = await reviseToolCall(call, changed);
  if ('problem' in revised) return invalid('updatedInput', revised.problem);
  const denial = await forbidden(approvalState.ruleCache, revised.call);
  return denial === undefined ? undefined : invalid('updatedInput', `it is denied: ${denial.message}`);
}

function reachProblem(asked: Approval, { scope }: AnsweredRule): string | undefined {
  if (readAsked(asked.describe).hints.suppressAlways) return NO_RULE_OF_IT;
  return reachOf(asked, scope) === undefined
    ? 'expected a scope other than `project`: it is not known which project the call was in'
    : undefined;
}

function rulesIn({ rule, rules = [] }: PersonAnswer): readonly AnsweredRule[] {
  return rule === undefined ? rules : [rule, ...rules];
}

function invalid(part: Invalid['part'], problem: string): Invalid {
  return { outcome: 'invalid', part, problem: sentence(problem) };
}

function toStored(asked: Approval, answer: PersonAnswer): StoredVerdict {
  const { digest, by, via, reason } = answer;
  const rules = newRules(asked, answer);
  const common = {
    ...{ digest, by, via },
    ...(reason === undefined ? {} : { reason }),
    ...(rules.length === 0 ? {} : { rules }),
  };
  if (answer.decision === 'deny') return { state: 'denied', ...common };
  const updatedInput = changedInput(asked, answer);
  return { state: 'allowed', ...common, ...(updatedInput === undefined ? {} : { updatedInput }) };
}

/** Clients that always send the input along have not changed it. */
function changedInput({ input }: Approval, { decision, updatedInput }: PersonAnswer): unknown {
  if (decision === 'deny' || updatedInput === undefined) return undefined;
  return digestOf([input]) === digestOf([updatedInput]) ? undefined : updatedInput;
}

/** One of each: the same rule may stand in a suggestion of the engine and in the person's own choice. */
function newRules(asked: Approval, answer: PersonAnswer): NewRule[] {
  const seen = new Set<string>();
  return rulesIn(answer).flatMap(({ rule, scope, behaviour = answer.decision }): NewRule[] => {
    const reach = scope === 'once' ? undefined : reachOf(asked, scope);
    const name = digestOf([rule, scope, behaviour]);
    if (reach === undefined || seen.has(name)) return [];
    seen.add(name);
    return [{ ...reach, rule, behaviour, createdBy: answer.by }];
  });
}

function reachOf(asked: Approval, scope: RuleReach['scope']): RuleReach | undefined {
  switch (scope) {
    case 'once':
    case 'session':
      return { scope, session: asked.session };
    case 'project': {
      const { root } = readAsked(asked.describe).place;
      return root === '' ? undefined : { scope, project: root };
    }
    case 'everywhere':
      return { scope };
  }
}

/** A rule may be right and yet not reach what asked: a redirection, a protected file, a stronger rule. */
async function satisfaction(
  approvalState: ApprovalState,
  call: GatedToolCall,
  behaviour: NewRule['behaviour'],
): Promise<Satisfaction | undefined> {
  if (call.question) return undefined;
  const decision = await approvalState.ruleCache.judge(call);
  return decision.behaviour === behaviour ? { satisfied: true } : { satisfied: false, why: decision.message };
}

/** The answer to one that was lost on the way: the same person, the same content. */
async function repeated(
  approvalState: ApprovalState,
  { approval }: Extract<DecideOutcome, { outcome: 'already' | 'expired' }>,
  answer: PersonAnswer,
): Promise<AnswerOutcome | undefined> {
  const { decision } = approval;
  if (decision === undefined || approval.digest !== answer.digest) return undefined;
  const state = answer.decision === 'allow' ? 'allowed' : 'denied';
  const changed = changedInput(approval, answer);
  const asked = newRules(approval, answer);
  const same =
    approval.state === state &&
    decision.by === answer.by &&
    decision.via === answer.via &&
    decision.reason === answer.reason &&
    digestOf(decision.rules ?? []) === digestOf(asked.map(ruleName)) &&
    digestOf([decision.updatedInput]) === digestOf([changed]);
  if (!same) return undefined;
  const rules = asked.length === 0 ? [] : await stillThere(approvalState, approval, asked);
  return { outcome: 'decided', approval, rules, repeated: true, ...NOTHING_SETTLED };
}

/** Those that the first answer made, as far as they were not revoked since. */
async function stillThere(
  approvalState: ApprovalState,
  approval: Approval,
  asked: readonly NewRule[],
): Promise<Rule[]> {
  const { root } = readAsked(approval.describe).place;
  const known = await approvalState.ruleCache.rulesFor(approval.session, root);
  return asked.flatMap((wanted) => {
    const name = digestOf([ruleName(wanted), wanted.createdBy]);
    return known.find((rule) => digestOf([ruleName(rule), rule.createdBy]) === name) ?? [];
  });
}

function ruleName({ rule, scope, behaviour }: NewRule): { rule: string; scope: string; behaviour: string } {
  return { rule, scope, behaviour };
}
