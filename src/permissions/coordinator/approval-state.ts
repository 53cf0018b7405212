/** What the parts of the coordinator share: the store, the rules, the waiting calls, the listeners. */
import { deferred } from '../../core/deferred.js';
import type { Approval, ApprovalStore } from '../../store/approvals.js';
import type { ApprovalEvent, RuleEvent } from '../approvals.js';
import type { Decision } from '../decision.js';
import type { GatedToolCall } from '../gate.js';
import type { PermissionLog, RuleCache } from './rule-cache.js';

/** A set that forgets its oldest members: bounded, whatever a long-lived process sees. */
class BoundedSet {
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
  ruleCache: RuleCache;
  log: PermissionLog;
}

export class ApprovalState {
  readonly approvals: ApprovalStore;
  readonly ruleCache: RuleCache;
  readonly log: PermissionLog;
  readonly waiting = new WaitingList();
  /** Approvals whose verdict a call of this process got: asked again, it is another call of that name. */
  readonly delivered = new BoundedSet(REMEMBERED);
  readonly #announced = new BoundedSet(REMEMBERED);
  /** Those that listeners have heard of, and with which end. */
  readonly #seen = new BoundedSet(REMEMBERED);
  readonly #offered = new BoundedSet(REMEMBERED);
  readonly #saidOfRules = new BoundedSet(REMEMBERED);
  readonly #listeners = new Set<(event: ApprovalEvent) => void>();
  readonly #ruleListeners = new Set<(event: RuleEvent) => void>();

  constructor({ approvals, ruleCache, log }: ApprovalStateOptions) {
    this.approvals = approvals;
    this.ruleCache = ruleCache;
    this.log = log;
  }

  subscribe(listener: (event: ApprovalEvent) => void): () => void {
    // A function of its own: the same listener may subscribe twice.
    const own = (event: ApprovalEvent) => listener(event);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  emit(event: ApprovalEvent): void {
    this.#seen.add(event.approval.id);
    if (event.type !== 'resolved') this.#offered.add(offerOf(event.approval));
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

  emitRule(event: RuleEvent): void {
    this.#saidOfRules.add(`${event.type} ${event.rule.id}`);
    for (const listener of this.#ruleListeners) {
      try {
        listener(event);
      } catch (error) {
        this.log.error({ err: error, rule: event.rule.id }, 'bug in a listener to rules');
      }
    }
  }

  /** As the store has it now, whichever process changed it. Listeners learn what they have not heard yet. */
  hear(approval: Approval): void {
    if (approval.state !== 'pending') {
      this.settle(approval);
      return;
    }
    // Read before it was decided here.
    if (this.#announced.has(approval.id)) return;
    this.waiting.update(approval);
    if (this.#offered.has(offerOf(approval))) return;
    const type = this.#seen.has(approval.id) ? 'updated' : 'requested';
    this.emit({ type, approval });
  }

  hearRule(event: RuleEvent): void {
    if (!this.#saidOfRules.has(`${event.type} ${event.rule.id}`)) this.emitRule(event);
  }

  /** It is final: the waiting call continues, and listeners get one event. `by`: the judgement that settled it. */
  settle(approval: Approval, by?: Decision): void {
    this.waiting.update(approval);
    this.waiting.end(approval.id, { kind: 'settled', approval, ...(by === undefined ? {} : { by }) });
    if (this.#announced.add(approval.id)) this.emit({ type: 'resolved', approval });
  }
}

function offerOf({ id, expiresAt }: Approval): string {
  return `${id} ${expiresAt}`;
}

export type WaitEnd =
  /** `by`: the judgement of rules that settled it, where this process made it. */
  | { kind: 'settled'; approval: Approval; by?: Decision }
  | { kind: 'aborted' }
  /** The row is no more: its session was deleted. */
  | { kind: 'gone' }
  | { kind: 'closing' };

export class Waiter {
  readonly id: string;
  readonly call: GatedToolCall;
  /** Undefined until the store has it. */
  approval: Approval | undefined;
  readonly #ended = deferred<WaitEnd>();
  readonly ended = this.#ended.promise;

  constructor(id: string, call: GatedToolCall) {
    this.id = id;
    this.call = call;
  }

  /** The first counts. */
  end(end: WaitEnd): void {
    this.#ended.resolve(end);
  }
}

/** Calls of this process that wait for a person: a promise on a row of the store, and nothing more. */
class WaitingList {
  readonly #waiters = new Map<string, Set<Waiter>>();

  get size(): number {
    return this.#waiters.size;
  }

  add(id: string, call: GatedToolCall): Waiter {
    const waiter = new Waiter(id, call);
    const others = this.#waiters.get(id);
    if (others === undefined) this.#waiters.set(id, new Set([waiter]));
    else others.add(waiter);
    return waiter;
  }

  remove(waiter: Waiter): void {
    const others = this.#waiters.get(waiter.id);
    others?.delete(waiter);
    if (others?.size === 0) this.#waiters.delete(waiter.id);
  }

  /** One of those that wait for it. */
  find(id: string): Waiter | undefined {
    const [waiter] = this.#waiters.get(id) ?? [];
    return waiter;
  }

  countOf(id: string): number {
    return this.#waiters.get(id)?.size ?? 0;
  }

  /** Of those whose turn has come. */
  countInTurn(id: string): number {
    return [...(this.#waiters.get(id) ?? [])].filter(({ call }) => call.ahead !== true).length;
  }

  ids(): string[] {
    return [...this.#waiters.keys()];
  }

  all(): Waiter[] {
    return [...this.#waiters.values()].flatMap((waiters) => [...waiters]);
  }

  /** What the store says replaces what was known. */
  update(approval: Approval): void {
    for (const waiter of this.#waiters.get(approval.id) ?? []) waiter.approval = approval;
  }

  end(id: string, end: WaitEnd): void {
    for (const waiter of this.#waiters.get(id) ?? []) waiter.end(end);
  }

  /** The earliest that any of them expires. */
  nextDue(): number | undefined {
    let due: number | undefined;
    for (const { approval } of this.all()) {
      const at = approval?.expiresAt;
      if (at !== undefined && (due === undefined || at < due)) due = at;
    }
    return due;
  }
}
