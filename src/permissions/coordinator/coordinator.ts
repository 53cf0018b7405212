/** The coordinator itself: asks, waits, and puts its parts together. */
import { GatewayError } from '../../core/errors.js';
import { causeOf, onAbort, type StopCause } from '../../core/stopping.js';
import type { Approval, NewApproval } from '../../store/approvals.js';
import type { Change } from '../../store/bus.js';
import type { NewRule, Rule } from '../../store/rules.js';
import type { Store } from '../../store/store.js';
import type {
  AnswerOutcome,
  ApprovalCoordinator,
  ApprovalEvent,
  ExtendResult,
  PersonAnswer,
  RuleEvent,
  Settled,
} from '../approvals.js';
import type { Decision } from '../decision.js';
import type { GatedToolCall, Verdict } from '../gate.js';
import { decideApproval, problemOfRule } from './answer.js';
import { ApprovalLocator, type Located } from './approval-locator.js';
import { ApprovalState, type WaitEnd, type Waiter } from './approval-state.js';
import {
  BY_GATEWAY,
  cancelled,
  closing,
  conclude,
  isKeptForItsTurn,
  nobodyThere,
  refuse,
  VIA_GATEWAY,
} from './conclude.js';
import { approvalId, digestOfToolCall, versionedId } from './identity.js';
import { Presence } from './presence.js';
import { Rejudger } from './rejudger.js';
import { type Judge, type PermissionLog, RuleCache } from './rule-cache.js';
import { toShown } from './shown.js';
import { Ticker } from './ticker.js';
import { ToolPins } from './tool-pins.js';

export interface CoordinatorOptions {
  store: Pick<Store, 'approvals' | 'rules' | 'mcp' | 'presence' | 'sessions'>;
  policy: Judge;
  /** How long a question waits; those to the user by their nature have no clock. */
  timeoutMs: number;
  /** With no person present who could answer: refuse at once, or wait all the same. */
  unattended: 'deny' | 'wait';
  /** Somebody who is not connected is asked elsewhere, and can answer. */
  isReachable?: (call: Pick<GatedToolCall, 'principal' | 'tool'>) => boolean;
  /** The store's clock. */
  now?: () => number;
  log: PermissionLog;
  /** While something waits, the store is asked this often for what other nodes decided. */
  pollMs?: number;
}

const POLL_MS = 1_000;
const SWEEP_MS = 60_000;
/** Rows looked at in one round; the rest is looked at in the next. */
const ROWS_A_ROUND = 100;

/** The caller closes it, before it aborts what waits: an abort withdraws a question, closing keeps it. */
export function createApprovalCoordinator(options: CoordinatorOptions): ApprovalCoordinator {
  return new Coordinator(options);
}

class Coordinator implements ApprovalCoordinator {
  readonly #options: CoordinatorOptions;
  readonly #now: () => number;
  readonly #state: ApprovalState;
  readonly #locator: ApprovalLocator;
  readonly #rejudger: Rejudger;
  readonly #presence: Presence;
  readonly #ticker: Ticker;
  /** Of the rules that waiting calls were judged by last. */
  #revision: number | undefined;
  /** Where the next round of looking at rows begins. */
  #round = 0;
  #following: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: CoordinatorOptions) {
    const { store, policy, log, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    const ruleCache = new RuleCache(store.rules, policy, {
      pins: new ToolPins(store.mcp),
      modes: store.sessions,
      onUsedUp: (rule) => this.usedUp(rule),
    });
    this.#state = new ApprovalState({ approvals: store.approvals, ruleCache, log });
    this.#locator = new ApprovalLocator(this.#state);
    this.#rejudger = new Rejudger(this.#state);
    this.#presence = new Presence({ now, shared: store.presence, log });
    const { waiting } = this.#state;
    this.#ticker = new Ticker({
      now,
      pollMs: options.pollMs ?? POLL_MS,
      sweepMs: SWEEP_MS,
      nextDue: () => ({ due: waiting.nextDue(), busy: waiting.size > 0 }),
      work: async () => {
        await this.expireDue();
        await this.#refresh(this.#nextRows());
      },
      onError: (error) => log.warn({ err: error }, 'expired approvals could not be processed'),
    });
  }

  async ask(call: GatedToolCall, decision: Decision): Promise<Verdict> {
    const digest = digestOfToolCall(call);
    for (;;) {
      if (this.#closed) return closing(call);
      if (call.signal.aborted) return cancelled(call);
      const located = await this.#locator.locate(call, digest);
      if (located.reuse === undefined && !(await this.#isAttended(call))) {
        return refuse('unattended', nobodyThere(call, decision), { kind: 'unattended' });
      }
      const id = located.reuse?.id ?? approvalId(call, located.version);
      // Before the row can be seen: a decision that comes at once finds who waits for it.
      const waiter = this.#state.waiting.add(id, call);
      try {
        const offered = await this.#store(call, decision, digest, located);
        if (offered?.approval.digest !== digest) continue;
        return await this.#wait(waiter, offered.approval, offered.created);
      } finally {
        this.#state.waiting.remove(waiter);
      }
    }
  }

  isAnswered(call: GatedToolCall): Promise<boolean> {
    return this.#locator.isAnswered(call);
  }

  async list(
    query: Parameters<ApprovalCoordinator['list']>[0],
  ): Promise<{ items: Approval[]; next?: string }> {
    await this.expireDue();
    return this.#state.approvals.list(query);
  }

  get(id: string): Promise<Approval | undefined> {
    return this.#state.approvals.get(id);
  }

  decide(id: string, answer: PersonAnswer): Promise<AnswerOutcome> {
    return decideApproval(this.#state, this.#rejudger, id, answer);
  }

  async extend(id: string, by: { name: string; via: string }): Promise<ExtendResult> {
    const result = await this.#state.approvals.extend(id, this.#now() + this.#options.timeoutMs, by.name);
    if (result.outcome === 'extended') {
      this.#state.waiting.update(result.approval);
      this.#ticker.plan();
      this.#state.emit({ type: 'updated', approval: result.approval });
    } else if (result.outcome !== 'unknown') this.#state.settle(result.approval);
    return result;
  }

  async cancelAbandoned(session: string, reason: string): Promise<void> {
    const until = this.#now();
    const { approvals, waiting } = this.#state;
    let cursor: string | undefined;
    do {
      // What waits when the gateway stops is there for the next one.
      if (this.#closed) return;
      const query = { session, state: 'pending', limit: ROWS_A_ROUND } as const;
      const { items, next } = await approvals.list({ ...query, ...(cursor !== undefined && { cursor }) });
      for (const { id, createdAt } of items) {
        // A call of the turn that runs now waits before its row is there.
        if (createdAt <= until && waiting.countOf(id) === 0 && !this.#closed) await this.#cancel(id, reason);
      }
      cursor = next;
    } while (cursor !== undefined);
  }

  async addRule(rule: NewRule): Promise<{ rule: Rule } & Settled> {
    const problem = problemOfRule(rule);
    if (problem !== undefined) {
      throw new GatewayError('invalid_request', `rule: ${problem}`, { param: 'rule' });
    }
    const added = await this.#options.store.rules.add(rule);
    this.#state.emitRule({ type: 'added', rule: added });
    return { rule: added, ...(await this.#rejudger.rejudge()) };
  }

  async revokeRule(id: string, by: string): Promise<Rule | undefined> {
    const rule = await this.#options.store.rules.revoke(id, by);
    if (rule !== undefined) this.#state.emitRule({ type: 'revoked', rule });
    // Without a rule that asks or denies, something that waits may be allowed.
    if (rule !== undefined && rule.behaviour !== 'allow') await this.#rejudger.rejudge();
    return rule;
  }

  async modeChanged(session: string): Promise<void> {
    const waiters = this.#state.waiting.all().filter(({ call }) => call.session === session);
    if (waiters.length > 0) await this.#rejudger.rejudge(waiters);
  }

  attend(principal: string | undefined): () => void {
    return this.#presence.attend(principal);
  }

  seen(principal: string | undefined): void {
    this.#presence.seen(principal);
  }

  subscribe(listener: (event: ApprovalEvent) => void): () => void {
    return this.#state.subscribe(listener);
  }

  onRule(listener: (event: RuleEvent) => void): () => void {
    return this.#state.onRule(listener);
  }

  usedUp(rule: Rule): void {
    this.#state.emitRule({ type: 'revoked', rule });
  }

  async expireDue(): Promise<void> {
    for (const approval of await this.#state.approvals.expireDue()) this.#state.settle(approval);
  }

  follow(changes: readonly Change[]): Promise<void> {
    const next = this.#following.then(() => this.#follow(changes));
    this.#following = next.catch(() => {});
    return next;
  }

  refresh(): Promise<void> {
    return this.#refresh(this.#state.waiting.ids());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ticker.stop();
    for (const waiter of this.#state.waiting.all()) waiter.end({ kind: 'closing' });
    await this.#presence.close();
  }

  async #follow(changes: readonly Change[]): Promise<void> {
    const ids = new Set(changes.flatMap((change) => (change.kind === 'approval' ? [change.id] : [])));
    for (const id of ids) {
      if (this.#closed) return;
      const approval = await this.#state.approvals.get(id);
      if (approval !== undefined) this.#state.hear(approval);
    }
    this.#ticker.plan();
    const rules = changes.flatMap((change) => (change.kind === 'rule' ? [change] : []));
    for (const { what, rule } of rules) this.#state.hearRule({ type: what, rule });
    if (this.#closed) return;
    if (rules.length > 0 && this.#state.waiting.size > 0) await this.#rejudger.rejudge();
    else for (const change of changes) if (change.kind === 'session') await this.modeChanged(change.id);
  }

  async #isAttended(call: GatedToolCall): Promise<boolean> {
    const { unattended, isReachable } = this.#options;
    if (unattended === 'wait' || isReachable?.(call) === true) return true;
    return this.#presence.isAttended(call.principal);
  }

  /** The row of the call: found, or made. Undefined where it has gone meanwhile. */
  async #store(
    call: GatedToolCall,
    decision: Decision,
    digest: string,
    { reuse, outdated, version, mayHaveRun }: Located,
  ): Promise<{ created: boolean; approval: Approval } | undefined> {
    const { approvals } = this.#state;
    if (reuse !== undefined) {
      // Again, now that it is waited for: it may have been decided since it was found.
      const approval = await approvals.get(reuse.id);
      return approval && { created: false, approval };
    }
    if (outdated !== undefined) {
      await this.#cancel(
        outdated.id,
        'What the call would do has changed since it was shown. It is asked again.',
      );
    }
    const { session, principal, agent, toolUseId, tool, input, question, expires } = call;
    const asked: NewApproval = {
      id: approvalId(call, version),
      ...{ session, principal, tool, input, digest },
      ...(agent === undefined ? {} : { agent }),
      toolUseId: versionedId(toolUseId, version),
      describe: toShown(call, decision, mayHaveRun),
      suggestions: question ? [] : decision.suggestions,
      ...(question && !expires ? {} : { expiresAt: this.#now() + this.#options.timeoutMs }),
    };
    return approvals.create(asked);
  }

  async #wait(waiter: Waiter, approval: Approval, created: boolean): Promise<Verdict> {
    const { call, id } = waiter;
    if (approval.state !== 'pending') return this.#conclude(call, { kind: 'settled', approval }, id);
    waiter.approval = approval;
    const release = onAbort(call.signal, () =>
      waiter.end(staysOpen(causeOf(call.signal)) ? { kind: 'closing' } : { kind: 'aborted' }),
    );
    if (this.#closed) waiter.end({ kind: 'closing' });
    this.#ticker.plan();
    // After a restart it is offered again to the people present then.
    if (created || this.#state.waiting.countOf(id) === 1) this.#state.emit({ type: 'requested', approval });
    call.onWaiting?.(id);
    // A rule may have been made between the judgement and now.
    this.#rejudger.rejudge([waiter]).catch((error: unknown) => {
      this.#options.log.error({ err: error, approval: id }, 'a waiting call could not be judged again');
    });
    try {
      return await this.#conclude(call, await waiter.ended, id);
    } finally {
      release();
      call.onResumed?.();
    }
  }

  async #conclude(call: GatedToolCall, end: WaitEnd, id: string): Promise<Verdict> {
    switch (end.kind) {
      case 'closing':
        return closing(call);
      case 'gone':
        return cancelled(call);
      case 'aborted':
        await this.#cancel(id, 'The request was stopped before anyone answered.');
        return cancelled(call);
      case 'settled': {
        const { approvals, ruleCache } = this.#state;
        const verdict = await conclude({ approvals, ruleCache, call, approval: end.approval, by: end.by });
        if (!isKeptForItsTurn(call, verdict.because)) this.#state.delivered.add(id);
        return verdict;
      }
    }
  }

  async #cancel(id: string, reason: string): Promise<void> {
    const verdict = { state: 'cancelled', by: BY_GATEWAY, via: VIA_GATEWAY, reason } as const;
    const outcome = await this.#state.approvals.decide(id, verdict);
    if ('approval' in outcome && outcome.approval.state !== 'pending') this.#state.settle(outcome.approval);
  }

  /** In turn: those that have waited longest to be looked at. */
  #nextRows(): readonly string[] {
    const ids = this.#state.waiting.ids();
    if (ids.length <= ROWS_A_ROUND) return ids;
    const from = this.#round % ids.length;
    this.#round = from + ROWS_A_ROUND;
    return [...ids, ...ids].slice(from, from + ROWS_A_ROUND);
  }

  async #refresh(ids: readonly string[]): Promise<void> {
    const { approvals, waiting, ruleCache } = this.#state;
    for (const id of ids) {
      const approval = await approvals.get(id);
      // Not there: its row is being written.
      if (approval === undefined) {
        if (waiting.find(id)?.approval !== undefined) waiting.end(id, { kind: 'gone' });
      } else if (approval.state === 'pending') waiting.update(approval);
      else this.#state.settle(approval);
    }
    if (waiting.size === 0) return;
    const revision = await ruleCache.revision();
    if (revision === this.#revision) return;
    this.#revision = revision;
    await this.#rejudger.rejudge();
  }
}

/** A question outlives the gateway; every other cause withdraws it, and so does a signal that names none. */
function staysOpen(cause: StopCause | undefined): boolean {
  switch (cause) {
    case 'gateway-stops':
      return true;
    case 'client-gone':
    case 'request-broken':
    case 'person-stopped':
    case 'session-lost':
    case 'session-ended':
    case undefined:
      return false;
  }
}
