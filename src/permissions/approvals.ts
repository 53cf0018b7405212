/**
 * The approval coordinator: a question is stored, then offered, then decided, once. Every state
 * but `pending` is final. What waits in memory is only a promise on a row of the store: a restart
 * asks the same question again under the same id, and finds the decision made meanwhile.
 */
import type { Approval, NewApproval } from '../store/approvals.js';
import type { Change } from '../store/bus.js';
import type { NewRule, Rule, RuleBehaviour, RuleReach } from '../store/rules.js';
import type { Decision, JudgedToolCall } from './decision.js';
import type { GatedToolCall, Verdict } from './gate.js';

export interface ApprovalCoordinator {
  /** Asks and waits. Used by the gate alone. */
  ask(call: GatedToolCall, decision: Decision): Promise<Verdict>;
  /** A person has decided about this very call, and the decision has not been used. For the gate. */
  isAnswered(call: GatedToolCall): Promise<boolean>;
  /** Newest first; those that wait with `state: 'pending'`. */
  list(query: {
    principal?: string;
    session?: string;
    state?: Approval['state'];
    cursor?: string;
    limit: number;
  }): Promise<{ items: Approval[]; next?: string }>;
  get(id: string): Promise<Approval | undefined>;
  decide(id: string, answer: PersonAnswer): Promise<AnswerOutcome>;
  extend(id: string, by: { name: string; via: string }): Promise<ExtendResult>;
  /**
   * What the session asked before now is abandoned: those of its questions that no call in this
   * process waits for are cancelled.
   */
  cancelAbandoned(session: string, reason: string): Promise<void>;
  /**
   * Rules that people made, now; making one settles whatever waits and is decided by it. Rejects
   * with GatewayError `invalid_request` where the rule cannot be read.
   */
  addRule(rule: NewRule): Promise<{ rule: Rule } & Settled>;
  revokeRule(id: string, by: string): Promise<Rule | undefined>;
  /** A person changed the mode of the session: what waits in it is judged by the new one. */
  modeChanged(session: string): Promise<void>;
  /**
   * Somebody is there who can answer for `principal` (undefined: for everyone), until the returned
   * function is called. Counted for `unattended`.
   */
  attend(principal: string | undefined): () => void;
  /** The same for a client that polls: counted for a minute. */
  seen(principal: string | undefined): void;
  /** Calls `listener` with every change, in order; one that throws is logged and stays. */
  subscribe(listener: (event: ApprovalEvent) => void): () => void;
  /** Calls `listener` with every rule that is made or ends, also with those that calls use up. */
  onRule(listener: (event: RuleEvent) => void): () => void;
  /** A call used it up. For the gate. */
  usedUp(rule: Rule): void;
  /** Expires what is due; the coordinator also does it by itself. */
  expireDue(): Promise<void>;
  /**
   * What any process on the store has changed: who waits or listens here hears of it, once. Rejects as the
   * store does.
   */
  follow(changes: readonly Change[]): Promise<void>;
  /** Looks in the store for what was decided elsewhere (another node); also done by itself. */
  refresh(): Promise<void>;
  /** Stops timers. Waiting calls end with the stop cause of the gateway; their questions stay pending in the store. */
  close(): Promise<void>;
}

export type ApprovalEvent =
  | { type: 'requested'; approval: Approval }
  | { type: 'updated'; approval: Approval }
  | { type: 'resolved'; approval: Approval };

export type RuleEvent = { type: 'added'; rule: Rule } | { type: 'revoked'; rule: Rule };

export interface PersonAnswer {
  decision: 'allow' | 'deny';
  /** Of what the person was shown. */
  digest: string;
  by: string;
  via: 'console' | 'api' | 'mcp' | 'terminal' | 'slack' | 'telegram' | 'feishu' | 'ntfy' | 'push';
  reason?: string;
  updatedInput?: unknown;
  /**
   * "Always": made together with the decision. Its behaviour is by default that of the decision.
   * `once` is this call alone, which the decision itself is about: no rule is kept.
   */
  rule?: AnsweredRule;
  /** Further ones: all are made, or none. */
  rules?: readonly AnsweredRule[];
}

export interface AnsweredRule {
  rule: string;
  scope: RuleReach['scope'];
  behaviour?: RuleBehaviour;
}

/** Ids of other approvals that a new rule decided. */
export interface Settled {
  /** Allowed by it: `covered`. */
  released: readonly string[];
  /** Denied by it. */
  refused: readonly string[];
}

export type AnswerOutcome =
  | ({
      outcome: 'decided';
      approval: Approval;
      /** Those that were made with it. */
      rules: readonly Rule[];
      /** Whether they decide the call that was asked about, so that its like is not asked again. */
      satisfies?: { satisfied: true } | { satisfied: false; why: string };
      /** The same person said the same before: nothing was done now. */
      repeated?: boolean;
    } & Settled)
  | { outcome: 'already'; approval: Approval }
  | { outcome: 'expired'; approval: Approval }
  | { outcome: 'mismatch'; approval: Approval }
  /** The changed input or the rule cannot be used: nothing was decided. */
  | { outcome: 'invalid'; problem: string; part: 'rule' | 'updatedInput' }
  | { outcome: 'unknown' };

export type ExtendResult =
  | { outcome: 'extended'; approval: Approval }
  | { outcome: 'already'; approval: Approval }
  | { outcome: 'expired'; approval: Approval }
  | { outcome: 'unknown' };

export type { Approval, JudgedToolCall, NewApproval };
