/** Calls of this process that wait for a person: a promise on a row of the store, and nothing more. */
import { deferred } from '../../core/deferred.js';
import type { Approval } from '../../store/approvals.js';
import type { Decision } from '../decision.js';
import type { GatedToolCall } from '../gate.js';

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

export class WaitingList {
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

  ids(): string[] {
    return [...this.#waiters.keys()];
  }

  all(): Waiter[] {
    return [...this.#waiters.values()].flatMap((waiters) => [...waiters]);
  }

  /** Puts what the store says in the place of what was known. */
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
