/**
 * Questions to a person about one tool call. `pending` is the only state that can change; the
 * first decision wins, and a later one gets it as its answer. Decisions, and the rule a decision
 * makes, are written together with their line in the audit log.
 */
import type { NewRule, Rule, RuleBehaviour, RuleReach } from './rules.js';
import type { Page } from './store.js';

export type ApprovalStatus = 'pending' | 'allowed' | 'denied' | 'expired' | 'cancelled' | 'covered';

export interface NewApproval {
  id: string;
  session: string;
  principal: string;
  /** The sub-agent that asks; none for the main one. */
  agent?: string;
  toolUseId: string;
  tool: string;
  /** JSON, exactly what will run. */
  input: unknown;
  /** What the person is shown, and the rules that are suggested: JSON. */
  describe: unknown;
  suggestions: unknown;
  /** Of what was shown; a decision has to name it. */
  digest: string;
  /** None: no clock (questions to the user). */
  expiresAt?: number;
}

export interface Approval extends NewApproval {
  state: ApprovalStatus;
  createdAt: number;
  decision?: ApprovalDecision;
  /** When the call that was allowed went ahead. */
  usedAt?: number;
}

export interface ApprovalDecision {
  at: number;
  /** A principal, or the gateway's own name for what decided (`expiry`, a rule). */
  by: string;
  /** Where it was decided: console, api, mcp, terminal, gateway, or a provider of messages. */
  via: string;
  reason?: string;
  updatedInput?: unknown;
  /** The text of the rule that was made or that covered it; of several, with commas between them. */
  rule?: string;
  /** Those that were made. */
  rules?: readonly { rule: string; scope: RuleReach['scope']; behaviour: RuleBehaviour }[];
}

interface Decider {
  by: string;
  via: string;
}

export type ApprovalVerdict = Decider &
  (
    | {
        state: 'allowed';
        digest: string;
        reason?: string;
        updatedInput?: unknown;
        rules?: readonly NewRule[];
      }
    | { state: 'denied'; digest: string; reason?: string; rules?: readonly NewRule[] }
    | { state: 'cancelled'; reason?: string }
    /** A rule made meanwhile allows it. */
    | { state: 'covered'; rule: string }
  );

export type DecideOutcome =
  | { outcome: 'decided'; approval: Approval; rules: readonly Rule[] }
  /** Somebody was first: `approval.decision` says who, what and when. */
  | { outcome: 'already'; approval: Approval }
  /** Its time was over; if it was still pending, it is `expired` now. */
  | { outcome: 'expired'; approval: Approval }
  /** The digest is not that of what is asked. */
  | { outcome: 'mismatch'; approval: Approval }
  | { outcome: 'unknown' };

export type ExtendOutcome =
  | { outcome: 'extended'; approval: Approval }
  | { outcome: 'already'; approval: Approval }
  | { outcome: 'expired'; approval: Approval }
  | { outcome: 'unknown' };

export interface ApprovalQuery {
  principal?: string;
  session?: string;
  state?: ApprovalStatus;
  cursor?: string;
  limit: number;
}

export interface ApprovalStore {
  /**
   * Before it is offered. The same call of the same agent asks once: asked again (a restart, a
   * retry), `approval` is the one that exists, whatever became of it; compare its digest.
   */
  create(approval: NewApproval): Promise<{ created: boolean; approval: Approval }>;
  get(id: string): Promise<Approval | undefined>;
  list(query: ApprovalQuery): Promise<Page<Approval>>;
  /** How many wait in each of the sessions; those in which none does are left out. */
  waiting(sessions: readonly string[]): Promise<ReadonlyMap<string, number>>;
  decide(id: string, verdict: ApprovalVerdict): Promise<DecideOutcome>;
  /** Never shortens, and gives no clock to one that has none. */
  extend(id: string, expiresAt: number, by: string): Promise<ExtendOutcome>;
  /** Expires what is due and returns it, once: on whichever node asks first. */
  expireDue(): Promise<Approval[]>;
  /** Single use: true for exactly one caller, and only after `allowed` or `covered`. */
  use(id: string): Promise<boolean>;
}
