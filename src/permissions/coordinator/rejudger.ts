/** Rules changed: what waits is judged again, and settled where the rules decide it now. */
import type { Approval, DecideOutcome } from '../../store/approvals.js';
import type { Settled } from '../approvals.js';
import type { Decision } from '../decision.js';
import type { ApprovalState, Waiter } from './approval-state.js';
import { BY_RULE, VIA_GATEWAY } from './conclude.js';

export class Rejudger {
  readonly #state: ApprovalState;
  #last: Promise<unknown> = Promise.resolve();

  constructor(approvalState: ApprovalState) {
    this.#state = approvalState;
  }

  /** One after the other: two at once could spend two `once` rules on one call. */
  rejudge(waiters?: readonly Waiter[]): Promise<Settled> {
    const next = this.#last.then(() => this.#rejudge(waiters ?? this.#state.waiting.all()));
    this.#last = next.catch(() => {});
    return next;
  }

  async #rejudge(waiters: readonly Waiter[]): Promise<Settled> {
    const released: string[] = [];
    const refused: string[] = [];
    for (const { id, approval, call } of waiters) {
      // A question is for a person, whatever the rules say.
      if (approval === undefined || call.question) continue;
      if ((this.#state.waiting.find(id)?.approval ?? approval).state !== 'pending') continue;
      const judged = await this.#state.ruleCache.judge(call);
      if (judged.behaviour === 'ask') continue;
      const decision = judged.behaviour === 'allow' ? await this.#state.ruleCache.admit(call) : judged;
      if (decision.behaviour === 'ask') continue;
      const outcome = await this.#decide(approval, decision);
      if (outcome.outcome === 'decided') {
        (decision.behaviour === 'allow' ? released : refused).push(id);
        this.#state.settle(outcome.approval, decision);
      } else if (outcome.outcome === 'already' || outcome.outcome === 'expired') {
        this.#state.settle(outcome.approval);
      }
    }
    return { released, refused };
  }

  #decide({ id, digest }: Approval, decision: Decision): Promise<DecideOutcome> {
    const { approvals } = this.#state;
    const decider = { by: BY_RULE, via: VIA_GATEWAY } as const;
    return decision.behaviour === 'allow'
      ? approvals.decide(id, { state: 'covered', rule: ruleText(decision), ...decider })
      : approvals.decide(id, { state: 'denied', digest, reason: decision.message, ...decider });
  }
}

function ruleText({ because }: Decision): string {
  return because.kind === 'rule' ? because.rule : because.kind;
}
