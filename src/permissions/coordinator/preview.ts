/**
 * What a rule would have decided lately, before anyone makes it: it is tried on the calls of the
 * audit log and on what waits, by the same judgement as real calls. Writes nothing.
 */
import { ruleProblem } from '../../config/rule-syntax.js';
import { GatewayError } from '../../core/errors.js';
import type { Approval } from '../../store/approvals.js';
import type { AuditEntry } from '../../store/audit.js';
import type { Rule, RuleBehaviour, RuleReach } from '../../store/rules.js';
import type { Store } from '../../store/store.js';
import type { JudgedToolCall } from '../decision.js';
import type { Policy } from '../judge/policy.js';
import { holdsFor } from '../rules/rule.js';
import { describeRule } from '../rules/suggestions.js';
import { problemOfRule } from './answer.js';
import { NO_RULE_OF_IT, sentence } from './conclude.js';
import { RuleCache } from './rule-cache.js';
import { judgedAgain, readAsked, type ToolCallName } from './shown.js';

const DAY_MS = 24 * 3600 * 1000;
/** How far back, in time and in calls; and how many of those that match are shown. */
const PREVIEW_LIMITS = { days: 7, calls: 500, shown: 20 } as const;

export interface PreviewRequest {
  rule: string;
  behaviour: RuleBehaviour;
  reach: RuleReach;
  /** Whose calls; undefined for everyone's. */
  principal?: string;
  /** The question that the rule would be made of. */
  approval?: Approval;
}

export interface Preview {
  covers: string;
  lookedAt: number;
  /** Of the oldest call that was looked at. */
  since?: number;
  matched: number;
  calls: { at: number; session: string; tool: string; what: string; verdict: string }[];
  /** Whether the rule decides the question; undefined where none was named or the answer is unknown. */
  satisfies?: boolean;
  problem?: string;
}

export interface RulePreviews {
  /** Rejects with `invalid_request` for a rule that cannot be read, with the reason in words. */
  preview(request: PreviewRequest): Promise<Preview>;
}

interface PreviewOptions {
  policy: Policy;
  store: Pick<Store, 'rules' | 'audit' | 'approvals'>;
  now?: () => number;
}

interface Looked {
  at: number;
  what: string;
  verdict: string;
  call: JudgedToolCall;
}

export function createRulePreviews({ policy, store, now = Date.now }: PreviewOptions): RulePreviews {
  const ruleCache = new RuleCache(store.rules, policy);

  async function recent({ principal, reach }: PreviewRequest): Promise<Looked[]> {
    const whose = {
      ...(principal === undefined ? {} : { principal }),
      ...('session' in reach ? { session: reach.session } : {}),
    };
    const { calls: limit, days } = PREVIEW_LIMITS;
    const [judged, waiting] = await Promise.all([
      store.audit.list({ ...whose, calls: true, since: now() - days * DAY_MS, limit }),
      store.approvals.list({ ...whose, state: 'pending', limit }),
    ]);
    const looked = [...waiting.items.flatMap(fromQuestion), ...judged.items.flatMap(fromAudit)];
    return looked
      .filter(({ call }) => !('project' in reach) || call.location.root === reach.project)
      .slice(0, limit);
  }

  /** Agents make the same calls over and over: each is tried once. */
  async function matching(looked: readonly Looked[], request: PreviewRequest): Promise<Looked[]> {
    const trial = policy.tryRule(request);
    const known = new Map<string, boolean>();
    const rules = new Map<string, readonly Rule[]>();
    const found: Looked[] = [];
    for (const each of looked) {
      const { session, tool, location, input, effects } = each.call;
      const where = `${session} ${location.root}`;
      const stored = rules.get(where) ?? (await ruleCache.rulesFor(session, location.root));
      rules.set(where, stored);
      const key = JSON.stringify([session, tool, location, input, effects]);
      const matches = known.get(key) ?? (await trial(each.call, stored));
      known.set(key, matches);
      if (matches) found.push(each);
    }
    return found;
  }

  /** As an answer with this rule would report it. */
  async function satisfaction(
    approval: Approval,
    request: PreviewRequest,
  ): Promise<Pick<Preview, 'satisfies' | 'problem'>> {
    const { question, hints, call: kept } = readAsked(approval.describe);
    if (question)
      return { satisfies: false, problem: 'It is a question for a person: no rule can answer it.' };
    if (hints.suppressAlways) return { satisfies: false, problem: NO_RULE_OF_IT };
    const call = judgedAgain(kept, nameOf(approval));
    if (call === undefined) {
      return {
        problem: 'The call is too large to be checked now: the decision will say whether the rule covers it.',
      };
    }
    const { rule, behaviour, reach } = request;
    if (!holdsFor(reach, call.session, call.location.root)) {
      return { satisfies: false, problem: 'The rule would apply to another session or folder.' };
    }
    const rules = await ruleCache.rulesFor(call.session, call.location.root);
    const tried: Rule = { ...reach, rule, behaviour, id: '', createdBy: '', createdAt: now() };
    const decision = await policy.decide(call, [...rules, tried]);
    return decision.behaviour === behaviour
      ? { satisfies: true }
      : { satisfies: false, problem: decision.message };
  }

  return {
    async preview(request) {
      const { rule, behaviour, reach, approval } = request;
      const problem = ruleProblem(rule) ?? problemOfRule({ rule, behaviour, scope: reach.scope });
      if (problem !== undefined) {
        throw new GatewayError('invalid_request', `rule: ${sentence(problem)}`, { param: 'rule' });
      }
      const looked = await recent(request);
      const found = await matching(looked, request);
      const since = looked.reduce((oldest, { at }) => Math.min(oldest, at), Number.POSITIVE_INFINITY);
      return {
        covers: describeRule(rule),
        lookedAt: looked.length,
        ...(looked.length === 0 ? {} : { since }),
        matched: found.length,
        calls: found.slice(0, PREVIEW_LIMITS.shown).map(({ at, what, verdict, call: { session, tool } }) => {
          return { at, session, tool, what, verdict };
        }),
        ...(approval === undefined ? {} : await satisfaction(approval, request)),
      };
    },
  };
}

function fromAudit({ at, event, what = '', principal, session = '', tool = '', call }: AuditEntry): Looked[] {
  const judged = judgedAgain(call, { principal, session, tool });
  return judged === undefined ? [] : [{ at, what, verdict: event.replace(/^tool\./, ''), call: judged }];
}

function fromQuestion(approval: Approval): Looked[] {
  const { question, call: kept } = readAsked(approval.describe);
  const judged = question ? undefined : judgedAgain(kept, nameOf(approval));
  if (judged === undefined) return [];
  return [{ at: approval.createdAt, what: titleOf(approval), verdict: 'pending', call: judged }];
}

function nameOf({ principal, session, tool }: Approval): ToolCallName {
  return { principal, session, tool };
}

function titleOf({ describe, tool }: Approval): string {
  const title: unknown =
    typeof describe === 'object' && describe !== null ? Reflect.get(describe, 'title') : '';
  return typeof title === 'string' && title !== '' ? title : tool;
}
