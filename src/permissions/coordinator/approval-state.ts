/** What the parts of the coordinator share: the store, the rules, the waiting calls, the listeners. */
import type { Approval, ApprovalStore } from '../../store/approvals.js';
import type { ApprovalEvent, RuleEvent } from '../approvals.js';
import type { Decision } from '../decision.js';
import type { PermissionLog } from './judge.js';
import type { RuleCache } from './rule-cache.js';
import { WaitingList } from './waiting-list.js';

/** A set that forgets its oldest members: bounded, whatever a long-lived process sees. */
class Remembered {
  readonly #most: number;
  readonly #members = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  has(member: string): boolean {
    return this.#members.has(member);
  }

  /** False when it was there already. */
  add(member: string): boolean {
    if (this.#members.has(member)) return false;
    this.#members.add(member);
    if (this.#members.size > this.#most) {
      const [oldest] = this.#members;
      if (oldest !== undefined) this.#members.delete(oldest);
    }
    return true;
  }
}

/** Approvals that a process remembers having dealt with; more are asleep in the store. */
const REMEMBERED = 20_000;

interface ApprovalStateOptions {
  approvals: ApprovalStore;
  book: RuleCache;
  log: PermissionLog;
}

export class ApprovalState {
  readonly approvals: ApprovalStore;
  readonly book: RuleCache;
  readonly log: PermissionLog;
  readonly waiting = new WaitingList();
  /** Approvals whose verdict a call of this process got: asked again, it is another call of that name. */
  readonly delivered = new Remembered(REMEMBERED);
  readonly #announced = new Remembered(REMEMBERED);
  readonly #listeners = new Set<(event: ApprovalEvent) => void>();
  readonly #ruleListeners = new Set<(event: RuleEvent) => void>();

  constructor({ approvals, book, log }: ApprovalStateOptions) {
    this.approvals = approvals;
    this.book = book;
    this.log = log;
  }

  subscribe(listener: (event: ApprovalEvent) => void): () => void {
    // A function of its own: the same listener may subscribe twice.
    const own = (event: ApprovalEvent) => listener(event);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(event: ApprovalEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.log.error({ err: error, approval: event.approval.id }, 'bug in a listener to approvals');
      }
    }
  }

  onRule(listener: (event: RuleEvent) => void): () => void {
    const own = (event: RuleEvent) => listener(event);
    this.#ruleListeners.add(own);
    return () => void this.#ruleListeners.delete(own);
  }

  tellRule(event: RuleEvent): void {
    for (const listener of this.#ruleListeners) {
      try {
        listener(event);
      } catch (error) {
        this.log.error({ err: error, rule: event.rule.id }, 'bug in a listener to rules');
      }
    }
  }

  /** It is final: the waiting call continues, and listeners get one event. `by`: the judgement that settled it. */
  settle(approval: Approval, by?: Decision): void {
    this.waiting.update(approval);
    this.waiting.end(approval.id, { kind: 'settled', approval, ...(by === undefined ? {} : { by }) });
    if (this.#announced.add(approval.id)) this.tell({ type: 'resolved', approval });
  }
}
